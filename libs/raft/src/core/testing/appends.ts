/** Append requests and logs for scenarios of the core. */
import { asTerm, noIndex } from '../brands.js';
import { entryAfter, logOrigin } from '../log/entry-checksum.js';
import type { AppendRequest } from '../messages.js';
import type { Entry } from '../types.js';
import { memberId } from './test-cluster.js';

/** An append of member 1, which leads term 1, to member 2. */
export function append(
  previous: Pick<Entry, 'index' | 'term' | 'checksum'>,
  entries: Entry[],
): AppendRequest {
  return {
    kind: 'appendRequest',
    from: memberId(1),
    to: memberId(2),
    term: asTerm(1),
    previous,
    entries,
    commitIndex: noIndex,
    notice: false,
  };
}

/** Appends commands of one term to a log. */
export function fill(entries: Entry[], term: number, count: number): void {
  for (let done = 0; done < count; done += 1) {
    entries.push(
      entryAfter(entries.at(-1) ?? logOrigin, asTerm(term), 'command', Buffer.from([term])),
    );
  }
}
