/** A write of a node's agent, as the checks of the plugin see it. */
import type { AdmissionContext, AdmissionTarget } from '../../rule.js';

export interface NodeWrite {
  /** The node of the agent. */
  readonly node: string;
  readonly target: AdmissionTarget;
  readonly context: AdmissionContext;
}
