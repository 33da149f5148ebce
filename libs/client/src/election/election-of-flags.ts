/** What a component's flags say about its election, as the elector takes it. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { dialect, type LeaderElectionOptions } from '@orch/component';
import type { LeaderElectorOptions } from './leader-elector.js';

type ElectionSettings = Pick<
  LeaderElectorOptions,
  'namespace' | 'name' | 'identity' | 'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs'
>;

/** Under an identity that no other process has; the lease is named for `component` unless a flag says. */
export function electionOfFlags(flags: LeaderElectionOptions, component: string): ElectionSettings {
  return {
    namespace: flags.resourceNamespace,
    name: flags.resourceName || dialect().systemName(component),
    identity: `${hostname()}_${randomUUID()}`,
    leaseDurationMs: flags.leaseDurationMs,
    renewDeadlineMs: flags.renewDeadlineMs,
    retryPeriodMs: flags.retryPeriodMs,
  };
}
