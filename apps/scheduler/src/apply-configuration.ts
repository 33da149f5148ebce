/** Applies the process settings of a configuration file, which take precedence over flags. */
import type { ProcessConfiguration } from '@orch/scheduling';
import type { SchedulerOptions } from './scheduler-options.js';

/** Throws ValueError if the settings contradict each other. */
export function applyConfiguration(
  options: SchedulerOptions,
  { election, ...client }: ProcessConfiguration,
): void {
  assignPresent(options.client, {
    kubeconfig: client.kubeconfig,
    apiQps: client.qps,
    apiBurst: client.burst,
  });
  assignPresent(options.serving.profiles, {
    profiling: client.profiling,
    contentionProfiling: client.contentionProfiling,
  });
  const { resourceLock, ...lease } = election;
  assignPresent(options.election, lease);
  assignPresent<{ resourceLock?: string }>(options.election, { resourceLock });
  options.election.checkRelations();
}

/** Assigns the fields that are not undefined. */
function assignPresent<T extends object>(target: T, fields: Partial<T>): void {
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) Object.assign(target, { [name]: value });
  }
}
