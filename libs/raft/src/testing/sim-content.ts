/**
 * The content of one simulated database, and which part of it a crash may take. Batches are applied
 * immediately and undone when they do not survive a crash; a batch survives completely or not at
 * all, as a record of a write-ahead file does. The disk decides which survive.
 */
import { createRequire } from 'node:module';
import type BTree from 'sorted-btree';
import type { Change, Range, Row } from '../storage/disk/disk.js';

/** Loaded through `require`, since the package's default export differs between module loaders. */
const { default: SortedTree } = createRequire(import.meta.url)(
  'sorted-btree',
) as typeof import('sorted-btree');

export type SimTree = BTree<string, Row>;

/** Keys whose previous version is retained, for a sector that reads stale data. */
const olderKeysMax = 1_024;

export interface SimBatch {
  readonly changes: readonly Change[];
  readonly bytes: number;
  /** What each key held before, in the order of `changes`. */
  readonly before: readonly (Row | undefined)[];
  /** Its write has resolved. */
  done: boolean;
  /** `lost`: it lies behind a torn record, where no restart finds it. */
  fate: 'unsynced' | 'durable' | 'lost';
}

export class SimContent {
  private readonly rows: SimTree = new SortedTree<string, Row>(undefined, compare);
  /** From the oldest one on that may still be undone. */
  private batches: SimBatch[] = [];
  private unsyncedBytes = 0;
  private readonly older = new Map<string, Row>();
  bytes = 0;

  /** `unsyncedBytesMax`: unsynced bytes beyond it reach the disk by themselves, oldest first. */
  constructor(private readonly unsyncedBytesMax: number) {}

  get(key: Buffer): Buffer | undefined {
    const row = this.rows.get(nameOf(key));
    return row && Buffer.from(row[1]);
  }

  /** As it is now, whatever is written later. */
  snapshot(): SimTree {
    return this.rows.clone();
  }

  apply(changes: readonly Change[]): SimBatch {
    let bytes = 0;
    const before: (Row | undefined)[] = [];
    const kept = changes.map((change) => copyOf(change));
    for (const change of kept) {
      bytes += bytesOf(change);
      before.push(this.change(change));
    }
    const batch: SimBatch = { changes: kept, bytes, before, done: false, fate: 'unsynced' };
    this.batches.push(batch);
    this.unsyncedBytes += bytes;
    while (this.unsyncedBytes > this.unsyncedBytesMax && this.batches[0]!.fate !== 'lost') {
      this.batches[0]!.fate = 'durable';
      this.settle();
    }
    return batch;
  }

  /** What a sync that begins now will cover. */
  unsynced(): readonly SimBatch[] {
    return this.batches.filter(({ fate }) => fate === 'unsynced');
  }

  makeDurable(batches: readonly SimBatch[]): void {
    for (const batch of batches) if (batch.fate === 'unsynced') batch.fate = 'durable';
    this.settle();
  }

  /** Undoes the batches that do not survive; the others remain unsynced. */
  restart(survives: (batch: SimBatch) => boolean): void {
    const batches = this.batches;
    const kept = batches.filter(
      (batch) => batch.fate === 'durable' || (batch.fate === 'unsynced' && survives(batch)),
    );
    if (kept.length < batches.length) {
      for (const batch of batches.toReversed()) this.undo(batch);
      this.batches = [];
      this.unsyncedBytes = 0;
      for (const { changes, fate } of kept) this.apply(changes).fate = fate;
    }
    for (const batch of this.batches) batch.done = true;
    this.settle();
  }

  /** The rows if no unsynced batch survived. */
  durableRows(): Row[] {
    const rows = this.rows.clone();
    for (const { changes, before } of this.batches.toReversed()) {
      for (let at = changes.length - 1; at >= 0; at -= 1) {
        setRow(rows, nameOf(changes[at]!.key), before[at]);
      }
    }
    for (const { changes, fate } of this.batches) {
      if (fate === 'durable') for (const change of changes) setRow(rows, ...rowOf(change));
    }
    return rows.valuesArray();
  }

  /** Keys within the range, in order. */
  keys(range: Range): Buffer[] {
    return [...rowsWithin(this.rows, range)].map(([key]) => key);
  }

  /** Changes a record without its writer, permanently. False: it does not exist. */
  damage(key: Buffer, change: (value: Buffer) => void): boolean {
    const name = nameOf(key);
    const row = this.rows.get(name);
    if (!row) return false;
    const value = Buffer.from(row[1]);
    change(value);
    this.set(name, [row[0], value]);
    return true;
  }

  /** Puts the version before the newest in its place. False: none is known. */
  makeStale(key: Buffer): boolean {
    const older = this.older.get(nameOf(key));
    if (!older) return false;
    this.set(nameOf(key), older);
    return true;
  }

  /** Removes a record. False: it does not exist. */
  lose(key: Buffer): boolean {
    return this.set(nameOf(key), undefined) !== undefined;
  }

  private change(change: Change): Row | undefined {
    const [name, row] = rowOf(change);
    const before = this.set(name, row);
    if (before && row) this.noteOlder(name, before);
    return before;
  }

  /** Returns the previous value. */
  private set(name: string, row: Row | undefined): Row | undefined {
    const before = this.rows.get(name);
    setRow(this.rows, name, row);
    this.bytes += rowBytes(row) - rowBytes(before);
    return before;
  }

  private noteOlder(name: string, before: Row): void {
    if (this.older.size >= olderKeysMax && !this.older.has(name)) {
      const [oldest] = this.older.keys();
      this.older.delete(oldest!);
    }
    this.older.set(name, before);
  }

  private undo({ changes, before }: SimBatch): void {
    for (let at = changes.length - 1; at >= 0; at -= 1) {
      this.set(nameOf(changes[at]!.key), before[at]);
    }
  }

  /** Forgets the oldest batches as far as they can no longer be undone. */
  private settle(): void {
    let count = 0;
    while (this.batches[count]?.fate === 'durable') {
      this.unsyncedBytes -= this.batches[count]!.bytes;
      count += 1;
    }
    if (count > 0) this.batches.splice(0, count);
  }
}

/**
 * Rows of a tree within the range, in its direction. The range's view and limit are the caller's.
 */
export function* rowsWithin(tree: SimTree, range: Range): Generator<Row> {
  const low = range.gte ?? range.gt;
  const high = range.lte ?? range.lt;
  const lowName = low && nameOf(low);
  const highName = high && nameOf(high);
  const entries = range.reverse ? tree.entriesReversed(highName) : tree.entries(lowName);
  for (const [name, row] of entries) {
    if (lowName !== undefined && (name < lowName || (!range.gte && name === lowName))) {
      if (range.reverse) return;
      continue;
    }
    if (highName !== undefined && (name > highName || (!range.lte && name === highName))) {
      if (!range.reverse) return;
      continue;
    }
    yield row;
  }
}

/** Compares as the bytes do, and faster. */
function nameOf(key: Buffer): string {
  return key.toString('latin1');
}

function rowOf(change: Change): [name: string, row: Row | undefined] {
  const name = nameOf(change.key);
  return [name, change.kind === 'put' ? [change.key, change.value] : undefined];
}

function setRow(tree: SimTree, name: string, row: Row | undefined): void {
  if (row) tree.set(name, row);
  else tree.delete(name);
}

function copyOf(change: Change): Change {
  const key = Buffer.from(change.key);
  return change.kind === 'put'
    ? { kind: 'put', key, value: Buffer.from(change.value) }
    : { kind: 'delete', key };
}

export function bytesOf(change: Change): number {
  return change.key.length + (change.kind === 'put' ? change.value.length : 0);
}

function rowBytes(row: Row | undefined): number {
  return row ? row[0].length + row[1].length : 0;
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
