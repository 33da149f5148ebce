/**
 * A disk in memory for simulation: deterministic for a clock and a random source, with every fault
 * of a real one. One `SimDisk` is the disk of one machine and outlives its processes. `crash` ends
 * the process: its handles are dead and their operations never settle, so that none of its code
 * continues. The syncs and the faults decide what survives.
 */
import { badDirectory, checkMarker } from '../storage/disk/claim-directory.js';
import type {
  Database,
  DatabaseOptions,
  DirectoryFormat,
  Disk,
  Mark,
  Range,
  Row,
} from '../storage/disk/disk.js';
import { rowsWithin, SimContent } from './sim-content.js';
import { SimDatabase, type SimVolume } from './sim-database.js';
import type { SimDiskCounts, SimDiskFaults } from './sim-faults.js';
import { type SimDiskOptions, SimMachine } from './sim-machine.js';
import { SimMarks } from './sim-marks.js';

/** Memory tables of LevelDB; older data is in synced files. */
const memoryTables = 2;

/** Which record to damage: the one under a key, or one of a range of keys. */
export type RecordChoice =
  | Buffer
  | (Pick<Range, 'gte' | 'lt'> & { readonly at: 'first' | 'middle' | 'last' | 'any' });

interface SimDirectory {
  readonly format: DirectoryFormat;
  readonly content: SimContent;
  openedBy: SimDatabase | undefined;
}

export class SimDisk implements Disk {
  private readonly machine: SimMachine;
  private readonly volume: SimVolume;
  private readonly trees = new Map<string, SimDirectory>();
  private readonly marks: SimMarks;
  /** In progress: a crash leaves either of the two. */
  private readonly replacements = new Set<() => void>();

  constructor(options: SimDiskOptions) {
    this.machine = new SimMachine(options);
    this.marks = new SimMarks(this.machine);
    this.volume = {
      machine: this.machine,
      usedBytes: () => this.usedBytes(),
      closed: (database) => {
        for (const directory of this.trees.values()) {
          if (directory.openedBy === database) directory.openedBy = undefined;
        }
      },
    };
  }

  /** May be changed at any time. */
  get faults(): SimDiskFaults {
    return this.machine.faults;
  }

  get counts(): Readonly<SimDiskCounts> {
    return this.machine.counts;
  }

  async openDatabase(
    path: string,
    format: DirectoryFormat,
    options: DatabaseOptions,
  ): Promise<Database> {
    await this.machine.wait(this.machine.life, this.faults.readMs);
    const directory = this.trees.get(path) ?? {
      format: { ...format },
      content: new SimContent(options.writeBufferBytes * memoryTables),
      openedBy: undefined,
    };
    checkMarker(path, format, options, JSON.stringify(directory.format));
    if (directory.openedBy) {
      throw badDirectory(
        path,
        'is in use by another process',
        'stop that process, or give this one its own data directory',
      );
    }
    recover(directory.content);
    directory.openedBy = new SimDatabase(this.volume, directory.content);
    this.trees.set(path, directory);
    return directory.openedBy;
  }

  async exists(path: string): Promise<boolean> {
    return this.trees.has(path);
  }

  async replaceDirectory(from: string, to: string): Promise<void> {
    const incoming = this.closed(from);
    if (!incoming) throw new Error(`ENOENT: no such directory, ${from}`);
    this.closed(to);
    const replace = () => {
      incoming.content.makeDurable(incoming.content.unsynced());
      this.forget(to);
      this.trees.set(to, incoming);
      this.trees.delete(from);
      this.marks.move(from, to);
    };
    this.replacements.add(replace);
    try {
      await this.machine.sync(this.machine.life);
    } finally {
      this.replacements.delete(replace);
    }
    replace();
  }

  async removeDirectory(path: string): Promise<void> {
    this.closed(path);
    this.forget(path);
  }

  async sizeOf(path: string): Promise<number> {
    return (this.trees.get(path)?.content.bytes ?? 0) + this.marks.bytesBelow(path);
  }

  async openMark(file: string): Promise<Mark> {
    return this.marks.open(file);
  }

  /**
   * Ends the process immediately. `machine`: the machine stops as well, and unsynced data is lost
   * as the faults decide; otherwise the operating system still has it, and only operations in
   * progress may be lost.
   */
  crash({ machine }: { readonly machine: boolean }): void {
    this.machine.life += 1;
    this.machine.counts.crashes += 1;
    for (const replace of this.replacements) {
      this.machine.counts.replacementsCut += 1;
      if (this.machine.chance(0.5)) replace();
    }
    this.replacements.clear();
    for (const directory of this.trees.values()) {
      directory.openedBy = undefined;
      this.lose(directory.content, machine);
    }
    if (machine) this.marks.crash();
  }

  /** Removes a directory, as formatting a disk does. Its process must have ended. */
  wipe(path: string): void {
    this.closed(path);
    this.forget(path);
  }

  /** Flips one bit of a record. Returns its key; undefined when there is none. */
  flipBit(path: string, choice: RecordChoice): Buffer | undefined {
    return this.damage(path, choice, (content, key) =>
      content.damage(key, (value) => {
        const bit = this.machine.pick(value.length * 8);
        value[bit >>> 3]! ^= 1 << (bit & 7);
      }),
    );
  }

  /** A record reads as the version before its newest. */
  makeStale(path: string, choice: RecordChoice): Buffer | undefined {
    return this.damage(path, choice, (content, key) => content.makeStale(key));
  }

  /** A record is gone. */
  loseRecord(path: string, choice: RecordChoice): Buffer | undefined {
    return this.damage(path, choice, (content, key) => content.lose(key));
  }

  /** Flips one bit of a mark. False: there is none. */
  flipMark(file: string): boolean {
    return this.marks.flipBit(file);
  }

  /** For oracles: the current rows, written or synced. */
  rowsOf(path: string, range: Range = {}): Row[] {
    const content = this.trees.get(path)?.content;
    return content ? [...rowsWithin(content.snapshot(), range)] : [];
  }

  /** For oracles: what a crash of the machine would leave at least. */
  durableRowsOf(path: string): Row[] {
    return this.trees.get(path)?.content.durableRows() ?? [];
  }

  directories(): string[] {
    return [...this.trees.keys()];
  }

  usedBytes(): number {
    let bytes = 0;
    for (const { content } of this.trees.values()) bytes += content.bytes;
    return bytes;
  }

  private lose(content: SimContent, machine: boolean): void {
    const atRisk = content.unsynced().filter((batch) => machine || !batch.done);
    if (atRisk.length === 0) {
      content.restart(() => true);
      return;
    }
    const keptCount = this.machine.pick(atRisk.length + 1);
    const subset = machine && this.faults.unsyncedLoss === 'subset';
    const lost = new Set(
      subset
        ? atRisk.filter(() => this.machine.chance(1 - keptCount / (atRisk.length + 1)))
        : atRisk.slice(keptCount),
    );
    this.machine.counts.batchesLost += lost.size;
    content.restart((batch) => !lost.has(batch));
  }

  private damage(
    path: string,
    choice: RecordChoice,
    change: (content: SimContent, key: Buffer) => boolean,
  ): Buffer | undefined {
    const directory = this.trees.get(path);
    if (!directory) return undefined;
    const { content, openedBy } = directory;
    // What a process has left is damaged as it lies there: nothing of it is undone any more.
    if (!openedBy) recover(content);
    const key = this.choose(content, choice);
    if (!key || !change(content, key)) return undefined;
    this.machine.counts.recordsDamaged += 1;
    return key;
  }

  private choose(content: SimContent, choice: RecordChoice): Buffer | undefined {
    if (Buffer.isBuffer(choice)) return choice;
    const { at, ...range } = choice;
    const keys = content.keys(range);
    if (at === 'first') return keys[0];
    if (at === 'last') return keys.at(-1);
    return keys[at === 'middle' ? keys.length >>> 1 : this.machine.pick(keys.length)];
  }

  private closed(path: string): SimDirectory | undefined {
    const directory = this.trees.get(path);
    if (directory?.openedBy) throw new Error(`the database in ${path} is open`);
    return directory;
  }

  private forget(path: string): void {
    this.trees.delete(path);
    this.marks.remove(path);
  }
}

/** Opening reads the write-ahead files up to a torn record and writes them into synced tables. */
function recover(content: SimContent): void {
  content.restart(() => true);
  content.makeDurable(content.unsynced());
}
