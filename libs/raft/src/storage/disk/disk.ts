/**
 * The seam to disks. Everything durable goes through it, so that the simulation can lose, tear,
 * damage, fill and slow what real disks do. `FileDisk` is the real one.
 */

export interface DirectoryFormat {
  /** What the directory holds, such as `log`. */
  readonly kind: string;
  /** Raised when an older program could not read what a newer one wrote. */
  readonly version: number;
}

export interface DatabaseOptions {
  /** Higher: fewer, larger files and slower recovery; lower: more merging. */
  readonly writeBufferBytes: number;
  /** Read cache. Higher: more memory; lower: more disk reads of history. */
  readonly cacheBytes: number;
  /** Ends messages about damage: what an operator does. By default to restore the directory. */
  readonly cure?: string;
}

export interface Disk {
  /**
   * Opens the database in `directory`, creating both when absent. Rejects with LogError
   * `BadDirectory` (foreign, locked, not writable, newer format) or `Corrupt`.
   */
  openDatabase(
    directory: string,
    format: DirectoryFormat,
    options: DatabaseOptions,
  ): Promise<Database>;
  exists(directory: string): Promise<boolean>;
  /**
   * Puts `from` in the place of `to`, which may exist; durable and atomic: a crash leaves one of
   * the two whole. Neither may be open.
   */
  replaceDirectory(from: string, to: string): Promise<void>;
  /** Removes it with all it holds; does nothing when absent. */
  removeDirectory(directory: string): Promise<void>;
  /** Bytes of all files below. */
  sizeOf(directory: string): Promise<number>;
  /**
   * A small file that is overwritten in place without sync: survives a crash of the process, maybe
   * not of the machine.
   */
  openMark(file: string): Promise<Mark>;
}

export interface Mark {
  /** Undefined when absent or unreadable. */
  readonly initial: Buffer | undefined;
  write(bytes: Buffer): Promise<void>;
  close(): Promise<void>;
}

export type Row = readonly [key: Buffer, value: Buffer];

export interface Range {
  readonly gt?: Buffer;
  readonly gte?: Buffer;
  readonly lt?: Buffer;
  readonly lte?: Buffer;
  readonly reverse?: boolean;
  readonly limit?: number;
  /** Bytes read ahead in one go. */
  readonly highWaterMarkBytes?: number;
  /** Read as of it. */
  readonly view?: DatabaseView;
}

/** An ordered map of bytes on disk, as LevelDB is one. */
export interface Database {
  get(key: Buffer): Promise<Buffer | undefined>;
  /** Synchronous, since that costs a tenth of an awaited read. */
  getSync(key: Buffer): Buffer | undefined;
  rows(range: Range): Rows;
  /**
   * Atomic. `sync`: resolves once the write is on stable storage. Earlier writes without sync may
   * still be lost then (they may be in an older write-ahead file): `sync()` settles them. After a
   * rejection the content is unknown, and later writes may be lost: reopen the database.
   */
  write(changes: readonly Change[], options: { readonly sync: boolean }): Promise<void>;
  /** A view of the current rows that later writes do not change. The caller closes it. */
  view(): DatabaseView;
  /** Resolves when everything written before is on stable storage. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface DatabaseView {
  close(): Promise<void>;
}

export interface Rows {
  /** At most `count`; empty at the end. */
  next(count: number): Promise<Row[]>;
  close(): Promise<void>;
}

export type Change =
  | { readonly kind: 'put'; readonly key: Buffer; readonly value: Buffer }
  | { readonly kind: 'delete'; readonly key: Buffer };
