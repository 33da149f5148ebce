/** Checks that a watch delivered the events of the log once, in order, with correct bookmarks. */
import type { Violation, WatchRecord } from './history.js';
import type { ReplayedState } from './replayed-state.js';

export function checkWatch(watch: WatchRecord, state: ReplayedState): Violation[] {
  const violations: Violation[] = [];
  const fault = (rule: string, detail: string) =>
    violations.push({
      rule: `watch: ${rule}`,
      detail: `${watch.client} on ${watch.prefix || 'everything'} after ${watch.afterRevision}: ${detail}`,
    });
  const { events, afterRevision, prefix } = watch;
  let last = afterRevision;
  let promised = afterRevision;
  const seen: string[] = [];
  for (const event of events) {
    if (event.kind === 'bookmark') {
      if (event.revision < last) fault('bookmark behind', `${event.revision} after ${last}`);
      promised = Math.max(promised, event.revision);
      last = Math.max(last, event.revision);
      continue;
    }
    if (event.revision < last) fault('out of order', `${event.revision} after ${last}`);
    if (event.revision <= promised) {
      fault(
        'event behind a bookmark',
        `${event.key} at ${event.revision}, the bookmark was ${promised}`,
      );
    }
    last = Math.max(last, event.revision);
    seen.push(show(event));
    if ('previous' in event) {
      const before = state.at(event.key, event.revision - 1)?.value;
      if (before !== event.previous) {
        fault('previous object', `${show(event)} had ${before}, the event has ${event.previous}`);
      }
    }
  }
  const upTo = Math.max(last, watch.progress);
  const expected = state.eventsAfter(afterRevision, prefix, upTo).map(show);
  compare(seen, expected, fault);
  return violations;
}

function compare(
  seen: readonly string[],
  expected: readonly string[],
  fault: (rule: string, detail: string) => void,
): void {
  const length = Math.max(seen.length, expected.length);
  for (let at = 0; at < length; at += 1) {
    if (seen[at] === expected[at]) continue;
    fault('not what happened', `event ${at} is ${seen[at]}, the log has ${expected[at]}`);
    return;
  }
}

function show(event: { kind: string; key: string; value: string; revision: number }): string {
  const { kind, key, value, revision } = event;
  return kind === 'put' ? `${key}=${value}@${revision}` : `${key} deleted@${revision}`;
}
