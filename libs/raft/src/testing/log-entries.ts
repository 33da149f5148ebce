/** Small logs for tests: entries from texts, and texts from entries. */
import { asLogIndex, asMemberId, asTerm, branded, noIndex } from '../core/brands.js';
import { entryAfter, logOrigin } from '../core/log/entry-checksum.js';
import type {
  Configuration,
  Entry,
  EntryKind,
  LogIndex,
  LogPoint,
  SnapshotPoint,
} from '../core/types.js';
import type { LogStore } from '../storage/log-store.js';
import type { Identity } from '../storage/stored-log.js';

export { pointOf } from '../storage/entry-reader.js';

export const testIdentity: Identity = {
  clusterId: '00000000000000c1',
  memberId: asMemberId('00000000000000a1'),
  storageId: '00000000000000d1',
};

export function configurationOf(...names: string[]): Configuration {
  const voters = names.map((name) => {
    return { id: `id-${name}`, name, peerUrl: `https://${name}`, clientUrl: '' };
  });
  return { voters: branded(voters), learners: [] };
}

export const testStart: SnapshotPoint = { ...logOrigin, configuration: configurationOf('one') };

/**
 * Entries that continue `previous`, one for each text; `configuration` and `empty` are kinds, too.
 */
export function chain(previous: LogPoint, term: number, ...texts: string[]): Entry[] {
  const entries: Entry[] = [];
  for (const text of texts) {
    const kind: EntryKind = text === 'configuration' || text === 'empty' ? text : 'command';
    entries.push(entryAfter(entries.at(-1) ?? previous, asTerm(term), kind, Buffer.from(text)));
  }
  return entries;
}

/** `index:term text` of each. */
export function texts(entries: readonly Entry[] | undefined): string[] | undefined {
  return entries?.map((entry) => `${entry.index}:${entry.term} ${entry.data}`);
}

/** Writes entries with their last term; a configuration entry brings one named for its index. */
export function append(
  store: LogStore,
  entries: readonly Entry[],
  truncateFrom?: number,
  votedFor?: string,
): Promise<void> {
  const configurations = entries
    .filter(({ kind }) => kind === 'configuration')
    .map(({ index }) => ({ index, configuration: configurationOf(`c${index}`) }));
  const { term } = entries.at(-1)!;
  const hardState = { term, votedFor, commitIndex: noIndex };
  return store.write(
    { hardState: branded(hardState), truncateFrom: truncateFrom as LogIndex | undefined, entries },
    configurations,
  );
}

/** Writes a hard state alone. */
export function vote(
  store: LogStore,
  term: number,
  votedFor: string | undefined,
  commitIndex = 0,
): Promise<void> {
  const hardState = { term, votedFor, commitIndex: asLogIndex(commitIndex) };
  return store.write({ hardState: branded(hardState), truncateFrom: undefined, entries: [] }, []);
}
