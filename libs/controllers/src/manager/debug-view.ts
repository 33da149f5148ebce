/** What a running manager has in its queues and caches, for people who look for a stuck object. */
import type { CacheView, QueueView } from '@orch/client';
import type { Controller } from '../common/controller.js';
import { limits } from '../limits.js';

export interface DebugView {
  /** Queues by the name of their controller. */
  readonly controllers: Readonly<Record<string, readonly QueueView[]>>;
  readonly caches: readonly CacheView[];
}

export function debugView(
  controllers: Iterable<readonly [string, Controller]>,
  caches: readonly CacheView[],
): DebugView {
  const queues = [...controllers].map(
    ([name, controller]) =>
      [name, controller.queues.map((queue) => queue.view(limits.viewedKeyCountMax))] as const,
  );
  return { controllers: Object.fromEntries(queues), caches };
}
