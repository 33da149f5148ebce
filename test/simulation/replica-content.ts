/** The content of a replica at the end: the current and the oldest retained state, read again. */
import type { Revision } from '@orch/store';
import type { Version, Violation } from '../history/history.js';
import type { ReplayedState } from '../history/replayed-state.js';
import { versionOf } from './objects.js';
import type { SimNode } from './sim-node.js';

export interface ReplicaContent {
  readonly name: string;
  readonly compactedRevision: number;
  readonly lists: readonly { readonly revision: number; readonly found: readonly Version[] }[];
}

const timeoutMs = 4_000;

/** Undefined: it has no state that could be read. */
export async function readContent({ name, store }: SimNode): Promise<ReplicaContent | undefined> {
  if (!store) return undefined;
  const { ready, revision, compactedRevision } = store.status();
  if (!ready) return undefined;
  const lists: { revision: number; found: Version[] }[] = [];
  for (const at of new Set<Revision>([compactedRevision, revision])) {
    const consistency = { kind: 'exact', revision: at } as const;
    const { entries } = await store.list('', { consistency, timeoutMs });
    lists.push({ revision: at, found: entries.map(versionOf) });
  }
  return { name, compactedRevision, lists };
}

/** All of them are at the end of what happened, and have as much of the past. */
export function checkContents(
  contents: readonly ReplicaContent[],
  state: ReplayedState,
): Violation[] {
  const violations: Violation[] = [];
  const fault = (detail: string) => violations.push({ rule: 'content', detail });
  for (const { name, compactedRevision, lists } of contents) {
    const first = contents[0]!;
    if (compactedRevision !== first.compactedRevision) {
      fault(
        `${name} has history after ${compactedRevision}, ${first.name} after ${first.compactedRevision}`,
      );
    }
    const last = lists.at(-1)!.revision;
    if (last !== state.lastRevision) {
      fault(`${name} is at ${last}, the log ends at ${state.lastRevision}`);
    }
    for (const { revision, found } of lists) {
      const expected = state.list('', revision).map(show);
      const shown = found.map(show);
      const at = expected.findIndex((version, position) => version !== shown[position]);
      if (at < 0 && expected.length === shown.length) continue;
      fault(`${name} at ${revision} has ${shown.at(at)} where ${expected.at(at)} was written`);
    }
  }
  return violations;
}

function show({ key, value, revision }: Version): string {
  return `${key}=${value}@${revision}`;
}
