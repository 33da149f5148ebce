/**
 * LevelDB as a `Database`. It does not know the meaning of rows; their writers add checksums,
 * because LevelDB does not verify its reads here and silently drops a damaged end of its
 * write-ahead file. Its tables are checked once, when it is opened.
 */
import { join } from 'node:path';
import { ClassicLevel, type Iterator as LevelIterator, type Snapshot } from 'classic-level';
import { LogError } from '../../replicated-log.js';
import { checkTables } from './check-tables.js';
import { badDirectory, damaged, errorText } from './claim-directory.js';
import type { Change, Database, DatabaseOptions, DatabaseView, Range, Row, Rows } from './disk.js';
import { LevelFormatError } from './level-bytes.js';

type Level = ClassicLevel<Buffer, Buffer>;

/** LevelDB takes no fewer. Higher: more mapped memory; lower: tables are opened more often. */
const openFilesMax = 74;
/** Higher: more mapped memory, longer merges; lower: more files. */
const fileBytes = 1024 * 1024;
/** Holds no row, whatever the keys in use. */
const emptyRange = [Buffer.alloc(64, 0xff), Buffer.alloc(65, 0xff)] as const;

/**
 * Opens the LevelDB within `directory`, which must be claimed. Rejects with LogError `BadDirectory`
 * (locked, not writable) or `Corrupt`.
 */
export async function openLevel(directory: string, options: DatabaseOptions): Promise<Level> {
  const location = join(directory, 'leveldb');
  try {
    await checkTables(location);
    return await openChecked(location, options);
  } catch (error) {
    throw describeOpenFailure(directory, options, error);
  }
}

async function openChecked(location: string, options: DatabaseOptions): Promise<Level> {
  // It begins to open the database by itself.
  const level: Level = new ClassicLevel<Buffer, Buffer>(location, {
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
    // Payloads are checked by their own checksums and mostly live in memory: compressing them
    // again costs more on the write path than the disk it saves.
    compression: false,
    writeBufferSize: options.writeBufferBytes,
    cacheSize: options.cacheBytes,
    // Tables in use are mapped into memory: these two bound how much that is.
    maxOpenFiles: openFilesMax,
    maxFileSize: fileBytes,
  });
  await level.open();
  return level;
}

export class LevelDatabase implements Database {
  constructor(
    private readonly level: Level,
    private readonly directory: string,
    private readonly options: DatabaseOptions,
  ) {}

  async get(key: Buffer): Promise<Buffer | undefined> {
    try {
      return await this.level.get(key);
    } catch (error) {
      throw describeReadFailure(this.directory, this.options, error);
    }
  }

  getSync(key: Buffer): Buffer | undefined {
    try {
      return this.level.getSync(key);
    } catch (error) {
      throw describeReadFailure(this.directory, this.options, error);
    }
  }

  rows(range: Range): Rows {
    const { highWaterMarkBytes, view, ...bounds } = range;
    const iterator = this.level.iterator({
      ...bounds,
      ...(highWaterMarkBytes === undefined ? {} : { highWaterMarkBytes }),
      ...(view === undefined ? {} : { snapshot: snapshotOf(view) }),
    });
    return new LevelRows(iterator, this.directory, this.options);
  }

  async write(changes: readonly Change[], options: { readonly sync: boolean }): Promise<void> {
    const batch = this.level.batch();
    for (const change of changes) {
      if (change.kind === 'put') batch.put(change.key, change.value);
      else batch.del(change.key);
    }
    await batch.write({ sync: options.sync });
  }

  view(): DatabaseView {
    return new LevelView(this.level.snapshot());
  }

  /**
   * Compacting an empty range makes LevelDB write its memory table to a synced file. A synced write
   * would not do: it syncs the current write-ahead file only, while the one before may still be
   * waiting to be merged.
   */
  async sync(): Promise<void> {
    await this.level.compactRange(...emptyRange);
  }

  async close(): Promise<void> {
    await this.level.close();
  }
}

class LevelRows implements Rows {
  constructor(
    private readonly iterator: LevelIterator<Level, Buffer, Buffer>,
    private readonly directory: string,
    private readonly options: DatabaseOptions,
  ) {}

  async next(count: number): Promise<Row[]> {
    try {
      return await this.iterator.nextv(count);
    } catch (error) {
      throw describeReadFailure(this.directory, this.options, error);
    }
  }

  async close(): Promise<void> {
    await this.iterator.close();
  }
}

class LevelView implements DatabaseView {
  constructor(readonly snapshot: Snapshot) {}

  async close(): Promise<void> {
    await this.snapshot.close();
  }
}

function snapshotOf(view: DatabaseView): Snapshot {
  if (!(view instanceof LevelView)) throw new TypeError('a view of another kind of database');
  return view.snapshot;
}

function describeOpenFailure(
  directory: string,
  options: DatabaseOptions,
  error: unknown,
): LogError {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const code = (cause as { code?: string }).code;
  if (code === 'LEVEL_LOCKED') {
    return badDirectory(
      directory,
      'is in use by another process',
      'stop that process, or give this one its own data directory',
      error,
    );
  }
  if (code === 'LEVEL_CORRUPTION' || cause instanceof LevelFormatError) {
    return damaged(directory, options, errorText(cause), cause);
  }
  return badDirectory(
    directory,
    `cannot be opened (${errorText(cause)})`,
    'check its owner and mode, and that its disk is not full or read-only',
    error,
  );
}

function describeReadFailure(directory: string, options: DatabaseOptions, error: unknown): unknown {
  const { code } = error as { code?: string };
  if (code !== 'LEVEL_CORRUPTION') return error;
  return damaged(directory, options, errorText(error), error);
}
