/** What every controller is given and what it must do. */

import { type EventRecorder, type InformerFactory, type RestClient, WorkQueue } from '@orch/client';
import type { Clock, Features, Logger, Metrics } from '@orch/component';

export interface ControllerContext {
  readonly client: RestClient;
  readonly informers: InformerFactory;
  /** PEM authority of the API's certificate; undefined when clients do not check it. */
  readonly authorityPem: string | undefined;
  /** The recorder whose events name `component` as their source. */
  readonly recorder: (component: string) => EventRecorder;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly features: Features;
  readonly random: () => number;
}

/** A control loop. Its constructor registers with the informers; `run` starts when they are synced. */
export interface Controller {
  /** Works until `signal` aborts, then ends what is under way and returns. */
  run(signal: AbortSignal): Promise<void>;
}

export function queueFor(context: ControllerContext, name: string): WorkQueue {
  const { clock, logger, metrics } = context;
  return new WorkQueue({ name, clock, logger, metrics });
}

/** Works a queue off with `workerCount` workers until `signal` aborts. */
export async function workOff(
  queue: WorkQueue,
  workerCount: number,
  signal: AbortSignal,
  reconcile: (key: string) => Promise<number | undefined>,
): Promise<void> {
  const onAbort = () => queue.shutDown();
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  await queue.run(workerCount, reconcile);
}
