/** Reads the election options from the flags of a component. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { dialect, type LeaderElectionOptions } from '@orch/component';
import type { LeaderElectorOptions } from './leader-elector.js';

type ElectionOptions = Pick<
  LeaderElectorOptions,
  | 'resourceLock'
  | 'namespace'
  | 'name'
  | 'identity'
  | 'leaseDurationMs'
  | 'renewDeadlineMs'
  | 'retryPeriodMs'
>;

/**
 * Returns options with a unique identity. The lock object has the name of the component unless a
 * flag sets another one.
 */
export function electionOfFlags(flags: LeaderElectionOptions, component: string): ElectionOptions {
  return {
    resourceLock: flags.resourceLock,
    namespace: flags.resourceNamespace,
    name: flags.resourceName || dialect().systemName(component),
    identity: `${hostname()}_${randomUUID()}`,
    leaseDurationMs: flags.leaseDurationMs,
    renewDeadlineMs: flags.renewDeadlineMs,
    retryPeriodMs: flags.retryPeriodMs,
  };
}
