/**
 * Assigns revisions to acknowledged deletions: the response has none, the event of the same uid
 * does. A deletion without an event was lost; two clients cannot both delete one object.
 */
import type { Violation, WriteRecord } from '../../history/history.js';
import type { NotedWrite } from '../load/notes.js';
import type { Truth } from './truth.js';

export interface PlacedWrites {
  readonly writes: readonly WriteRecord[];
  readonly violations: readonly Violation[];
}

export function placeDeletions(noted: readonly NotedWrite[], { log, facts }: Truth): PlacedWrites {
  const revisionByUid = new Map<string, number>();
  for (const { kind, key, revision } of log) {
    const told = facts.get(`${key}@${revision}`);
    if (kind === 'delete' && told) revisionByUid.set(told.uid, revision);
  }
  const violations: Violation[] = [];
  const deleters = new Map<string, string>();
  const writes = noted.map((write): WriteRecord => {
    const { deletedUid: uid, client } = write;
    if (uid === undefined || write.outcome.kind !== 'applied') return write;
    const other = deleters.get(uid);
    if (other !== undefined) {
      violations.push({ rule: 'deleted twice', detail: `${uid} by ${other} and ${client}` });
    }
    deleters.set(uid, client);
    const revision = revisionByUid.get(uid);
    if (revision !== undefined) return { ...write, outcome: { kind: 'applied', revision } };
    violations.push({
      rule: 'acknowledged deletion lost',
      detail: `${client} deleted ${write.operations[0]?.key} with uid ${uid}`,
    });
    return { ...write, outcome: { kind: 'unknown' } };
  });
  return { writes, violations };
}
