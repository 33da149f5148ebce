/** The definition of the node agent, for a process of its own and for `orch-components`. */
import type { ComponentDefinition } from '@orch/component';
import { NodeAgentProcessOptions } from './node-agent-process-options.js';
import { startNodeAgent } from './start-node-agent.js';

export const nodeAgent: ComponentDefinition<NodeAgentProcessOptions> = {
  program: 'orch-node-agent',
  component: 'node-agent',
  description: 'Runs the pods of one node.',
  optionsClass: NodeAgentProcessOptions,
  start: startNodeAgent,
};
