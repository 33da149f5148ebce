/**
 * Makes a cluster of one from the one data directory that survived the loss of a majority. For use when
 * nothing else is left: writes that the lost members had acknowledged and this one never got are gone,
 * and entries that no majority had come true.
 */
import {
  type Entry,
  entryAfter,
  LogError,
  type LogIndex,
  type LogPoint,
  type LogStore,
  type Member,
  membersOf,
  randomId,
  type StoredLog,
} from '@orch/raft';
import { logDirectory, stateDirectory } from '../in-thread-store.js';
import { StateDatabase } from '../shell/state-database.js';
import { StoreError } from '../versioned-store.js';
import { type BackupTools, logStoreOf, REAL_TOOLS } from './backup-tools.js';

export interface Recovered {
  /** Of the new cluster, with this one member. */
  readonly clusterId: string;
  readonly memberId: string;
  readonly memberName: string;
  /** The last entry this member had; all up to it count from now on. */
  readonly lastIndex: number;
  /** Up to here it knew that a majority had them. What lies between is a guess. */
  readonly commitIndex: number;
  readonly term: number;
  /** Who else had a vote. */
  readonly formerVoters: readonly Member[];
}

const COPY_BYTES = 1024 * 1024;

/**
 * The process that used the directory must have ended. Rejects with StoreError or LogError
 * `BadDirectory` or `Corrupt`; the directory is then as it was.
 */
export async function recoverDataDirectory(
  dataDirectory: string,
  tools: BackupTools = REAL_TOOLS,
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
    return ((await database.readFacts())?.appliedIndex ?? 0) as LogIndex;
  } finally {
    await database.close();
  }
}

/** The point in the log at which the state stands. */
async function pointAt(
  log: LogStore,
  { start, last }: StoredLog,
  index: LogIndex,
): Promise<LogPoint> {
  if (index === start.index) return start;
  const [entry] = (index > start.index && (await log.read(index, index, COPY_BYTES))) || [];
  if (entry) return { index, term: entry.term, checksum: entry.checksum };
  throw new LogError(
    'Corrupt',
    `the log has entries ${start.index + 1} to ${last.index}, the state has applied ${index}: the two do not belong together, recover another directory`,
  );
}

/** Members are no longer what the log says of them: such entries become empty ones. */
async function copyEntries(
  from: LogStore,
  to: LogStore,
  { last, hardState }: StoredLog,
  start: LogPoint,
): Promise<void> {
  let previous = start;
  while (previous.index < last.index) {
    const next = (previous.index + 1) as LogIndex;
    const read = await from.read(next, last.index, COPY_BYTES);
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
