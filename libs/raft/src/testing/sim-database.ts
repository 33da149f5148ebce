/**
 * One opening of a simulated database. Behaves as LevelDB does where it matters: after a failed
 * sync it accepts no writes; a write that did not fit on the disk leaves a torn record, so that
 * later writes are lost at the next opening, synced or not; an iterator sees the rows as of its
 * creation.
 */
import { LogError } from '../replicated-log.js';
import type { Change, Database, DatabaseView, Range, Row, Rows } from '../storage/disk/disk.js';
import { bytesOf, rowsWithin, type SimContent, type SimTree } from './sim-content.js';
import { DiskError } from './sim-faults.js';
import { never, ProcessGone, type SimMachine } from './sim-machine.js';

/** As LevelDB's binding has it. */
const defaultHighWaterMarkBytes = 16 * 1024;

/** What a handle needs of its disk. */
export interface SimVolume {
  readonly machine: SimMachine;
  usedBytes(): number;
  closed(database: SimDatabase): void;
}

export class SimDatabase implements Database {
  private readonly machine: SimMachine;
  private readonly life: number;
  private open = true;
  private torn = false;
  private failed = false;

  constructor(
    private readonly volume: SimVolume,
    private readonly content: SimContent,
  ) {
    this.machine = volume.machine;
    this.life = volume.machine.life;
  }

  async get(key: Buffer): Promise<Buffer | undefined> {
    this.assertOpen();
    await this.machine.wait(this.life, this.machine.faults.readMs);
    this.machine.checkRead();
    return this.content.get(key);
  }

  getSync(key: Buffer): Buffer | undefined {
    this.assertOpen();
    if (this.life !== this.machine.life)
      throw new ProcessGone('the process of this handle has crashed');
    this.machine.checkRead();
    return this.content.get(key);
  }

  rows(range: Range): Rows {
    this.assertOpen();
    const tree = range.view ? treeOf(range.view) : this.content.snapshot();
    return new SimRows(this.machine, this.life, rowsWithin(tree, range), range);
  }

  async write(changes: readonly Change[], { sync }: { readonly sync: boolean }): Promise<void> {
    this.assertWritable();
    const { faults, counts } = this.machine;
    if (this.life !== this.machine.life) return never();
    counts.writes += 1;
    const bytes = changes.reduce((sum, change) => sum + bytesOf(change), 0);
    if (this.volume.usedBytes() + bytes > faults.capacityBytes) {
      this.torn = true;
      counts.spaceErrors += 1;
      await this.machine.wait(this.life, faults.writeMs);
      throw new DiskError('ENOSPC', 'write');
    }
    const batch = this.content.apply(changes);
    if (this.torn) batch.fate = 'lost';
    if (sync) {
      const alone = this.machine.chance(faults.fileSwitchRate);
      await this.runSync(alone ? [batch] : this.content.unsynced());
    } else await this.machine.wait(this.life, faults.writeMs);
    batch.done = true;
  }

  view(): DatabaseView {
    this.assertOpen();
    return new SimView(this.content.snapshot());
  }

  async sync(): Promise<void> {
    this.assertWritable();
    await this.runSync(this.content.unsynced());
  }

  async close(): Promise<void> {
    if (this.life !== this.machine.life) return never();
    this.open = false;
    this.volume.closed(this);
  }

  private async runSync(batches: ReturnType<SimContent['unsynced']>): Promise<void> {
    try {
      await this.machine.sync(this.life);
    } catch (error) {
      this.failed = true;
      throw error;
    }
    this.content.makeDurable(batches);
  }

  private assertWritable(): void {
    this.assertOpen();
    if (this.failed) throw new DiskError('EIO', 'write after a failed fsync');
  }

  private assertOpen(): void {
    if (!this.open) throw new LogError('Stopped', 'the database is closed');
  }
}

class SimRows implements Rows {
  private left: number;

  constructor(
    private readonly machine: SimMachine,
    private readonly life: number,
    private readonly source: Generator<Row>,
    private readonly range: Range,
  ) {
    this.left = range.limit ?? Number.POSITIVE_INFINITY;
  }

  async next(count: number): Promise<Row[]> {
    await this.machine.wait(this.life, this.machine.faults.readMs);
    this.machine.checkRead();
    const { highWaterMarkBytes = defaultHighWaterMarkBytes } = this.range;
    const rows: Row[] = [];
    let bytes = 0;
    while (rows.length < count && this.left > 0 && bytes < highWaterMarkBytes) {
      const { value: row, done } = this.source.next();
      if (done) break;
      const [key, value] = row;
      rows.push([Buffer.from(key), Buffer.from(value)]);
      bytes += key.length + value.length;
      this.left -= 1;
    }
    return rows;
  }

  async close(): Promise<void> {
    this.source.return(undefined);
    this.left = 0;
  }
}

class SimView implements DatabaseView {
  constructor(readonly tree: SimTree) {}

  async close(): Promise<void> {
    // Nothing is held but memory.
  }
}

function treeOf(view: DatabaseView): SimTree {
  if (!(view instanceof SimView)) throw new TypeError('a view of another kind of database');
  return view.tree;
}
