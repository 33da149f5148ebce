/**
 * Makes a cluster of one member from the data directory that survived the loss of a majority. A
 * last resort: writes that the lost members acknowledged and this one never received are lost, and
 * entries that had no majority take effect.
 */
import {
  asLogIndex,
  type Entry,
  entryAfter,
  LogError,
  type LogIndex,
  type LogPoint,
  type LogStore,
  type Member,
  membersOf,
  nextIndex,
  type RecoveredLog,
  randomId,
} from '@orch/raft';
import { logDirectory, stateDirectory } from '../in-thread-store.js';
import { StateDatabase } from '../state/state-database.js';
import { StoreError } from '../versioned-store.js';
import { type BackupTools, logStoreOf, realTools } from './backup-tools.js';

export interface Recovered {
  /** Id of the new cluster, which has this one member. */
  readonly clusterId: string;
  readonly memberId: string;
  readonly memberName: string;
  /** The last entry of this member. All entries up to it take effect. */
  readonly lastIndex: number;
  /** The last entry that the member knew to be committed; later entries may lack a majority. */
  readonly commitIndex: number;
  readonly term: number;
  /** The other voters. */
  readonly formerVoters: readonly Member[];
}

const copyBytes = 1024 * 1024;

/**
 * Recovers a data directory that no process uses. Rejects with StoreError or LogError
 * `BadDirectory` or `Corrupt` and leaves the directory unchanged.
 */
export async function recoverDataDirectory(
  dataDirectory: string,
  tools: BackupTools = realTools,
): Promise<Recovered> {
  const { disk, random } = tools;
  const recoveredDirectory = `${logDirectory(dataDirectory)}.recovered`;
  await disk.removeDirectory(recoveredDirectory);
  if (!(await disk.exists(logDirectory(dataDirectory)))) throw nothingThere(dataDirectory);
  const log = logStoreOf(tools, dataDirectory);
  const recovered = logStoreOf(tools, dataDirectory, recoveredDirectory);
  try {
    const stored = await log.load();
    if (!stored) throw nothingThere(dataDirectory);
    const { configuration } = stored.configurations.at(-1)!;
    const self = membersOf(configuration).find(({ id }) => id === stored.identity.memberId);
    if (!self) {
      throw new StoreError(
        'BadDirectory',
        `the member of ${dataDirectory} was removed from its cluster: recover another directory`,
      );
    }
    const start = await pointAt(log, stored, await appliedIndexOf(tools, dataDirectory));
    const clusterId = randomId(random);
    const identity = { clusterId, memberId: self.id, storageId: randomId(random) };
    await recovered.load();
    const alone = { voters: [self], learners: [] };
    await recovered.create(identity, { ...start, configuration: alone }, true);
    await copyEntries(log, recovered, stored, start);
    const { term, commitIndex } = stored.hardState;
    await log.close();
    await recovered.close();
    await disk.replaceDirectory(recoveredDirectory, logDirectory(dataDirectory));
    return {
      clusterId,
      memberId: self.id,
      memberName: self.name,
      lastIndex: stored.last.index,
      commitIndex: Math.max(commitIndex, start.index),
      term,
      formerVoters: configuration.voters.filter(({ id }) => id !== self.id),
    };
  } catch (error) {
    await log.close();
    await recovered.close();
    await disk.removeDirectory(recoveredDirectory);
    throw error;
  }
}

async function appliedIndexOf({ disk }: BackupTools, dataDirectory: string): Promise<LogIndex> {
  const database = await StateDatabase.open(disk, stateDirectory(dataDirectory));
  try {
    return asLogIndex((await database.readFacts())?.appliedIndex ?? 0);
  } finally {
    await database.close();
  }
}

/** Returns the point in the log that the state has reached. */
async function pointAt(
  log: LogStore,
  { start, last }: RecoveredLog,
  index: LogIndex,
): Promise<LogPoint> {
  if (index === start.index) return start;
  const [entry] = (index > start.index && (await log.read(index, index, copyBytes))) || [];
  if (entry) return { index, term: entry.term, checksum: entry.checksum };
  throw new LogError(
    'Corrupt',
    `the log has entries ${start.index + 1} to ${last.index}, the state has applied ${index}: the two do not belong together, recover another directory`,
  );
}

/** Empties configuration entries, because the members of the log no longer apply. */
async function copyEntries(
  from: LogStore,
  to: LogStore,
  { last, hardState }: RecoveredLog,
  start: LogPoint,
): Promise<void> {
  let previous = start;
  while (previous.index < last.index) {
    const next = nextIndex(previous.index);
    const read = await from.read(next, last.index, copyBytes);
    if (!read) throw new LogError('Corrupt', `entry ${next} cannot be read`);
    const entries: Entry[] = [];
    for (const { term, kind, data } of read) {
      const isCommand = kind === 'command';
      const entry = entryAfter(
        previous,
        term,
        isCommand ? 'command' : 'empty',
        isCommand ? data : Buffer.alloc(0),
      );
      entries.push(entry);
      previous = entry;
    }
    const { term } = hardState;
    await to.write(
      {
        hardState: { term, votedFor: undefined, commitIndex: start.index },
        truncateFrom: undefined,
        entries,
      },
      [],
    );
  }
}

function nothingThere(dataDirectory: string): StoreError {
  return new StoreError('BadDirectory', `${dataDirectory} holds no replica's log`);
}
