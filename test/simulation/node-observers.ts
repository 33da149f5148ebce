/** Notes what one process takes for committed and what its store shows, as it happens. */
import type { LogHandlers, ReplicatedLog } from '@orch/raft';
import { type ReplicatedStore, type Revision, StoreError, type WatchEvent } from '@orch/store';
import type { LoggedEvent } from '../history/history.js';
import { contentOf } from './objects.js';
import type { SimLoop } from './sim-loop.js';
import type { Truth } from './truth.js';

export interface ObservedNode {
  readonly name: string;
  /** The time that its state takes to apply a delivery; 0: no time. */
  readonly applyMs: number;
}

/** Records the entries that the log delivers to the store, and delays them if the state is slow. */
export function observeCommits(
  node: ObservedNode,
  log: ReplicatedLog,
  truth: Truth,
  loop: SimLoop,
): void {
  const start = log.start.bind(log);
  log.start = (state, handlers) => {
    const noted: LogHandlers = {
      onCommitted: (entries) => {
        for (const { index, command } of entries) truth.committed(node.name, index, command);
        const held = handlers.onCommitted(entries);
        return node.applyMs > 0 ? later(loop, node.applyMs, held) : held;
      },
      onRefused: (ids, error) => handlers.onRefused(ids, error),
      onLeadership: (leadership) => handlers.onLeadership(leadership),
      snapshots: handlers.snapshots,
    };
    return start(state, noted);
  };
}

function later(loop: SimLoop, delayMs: number, held: Promise<void> | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    loop.after(delayMs, () => Promise.resolve(held).then(resolve, reject));
  });
}

/**
 * The revision after which no watcher saw events: a process may have applied some before its end
 * that are unknown to others. Restarts at the store's own revision when a snapshot has skipped, or
 * will skip, revisions.
 */
export function observeStore(
  name: string,
  store: ReplicatedStore,
  truth: Truth,
  loop: SimLoop,
  isCurrent: () => boolean,
  afterRevision = Math.min(store.revision(), truth.revision) as Revision,
): void {
  const again = () => {
    loop.after(1, () => {
      if (isCurrent()) observeStore(name, store, truth, loop, isCurrent, store.revision());
    });
  };
  try {
    store.watch({
      prefix: '',
      afterRevision,
      onEvents: (events) => {
        if (isCurrent()) note(name, events, truth);
      },
      onEnd: again,
    });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const isGone = error.code === 'Compacted' && afterRevision < store.revision();
    if (isGone) observeStore(name, store, truth, loop, isCurrent, store.revision());
    else again();
  }
}

function note(name: string, events: readonly WatchEvent[], truth: Truth): void {
  let at = 0;
  while (at < events.length) {
    const { revision } = events[at]!;
    const whole: LoggedEvent[] = [];
    for (; at < events.length && events[at]!.revision === revision; at += 1) {
      const { kind, key, entry } = events[at]!;
      whole.push({ revision, kind, key, value: contentOf(entry) });
    }
    truth.applied(name, revision, whole);
  }
}
