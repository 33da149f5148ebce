/**
 * The small unsynced files of a simulated disk. A crash of the machine may take one back, or away.
 */
import type { Mark } from '../storage/disk/disk.js';
import { never, type SimMachine } from './sim-machine.js';

/** Contents of a mark to which a crash of the machine may take it back. */
const versionsMax = 4;

export class SimMarks {
  /** By file: the contents, newest last; the newest undefined when it is damaged. */
  private readonly files = new Map<string, (Buffer | undefined)[]>();

  constructor(private readonly machine: SimMachine) {}

  open(file: string): Mark {
    const versions = this.files.get(file) ?? [];
    this.files.set(file, versions);
    const { machine } = this;
    const { life } = machine;
    return {
      initial: versions.at(-1),
      async write(bytes: Buffer): Promise<void> {
        if (life !== machine.life) return never();
        versions.push(Buffer.from(bytes));
        if (versions.length > versionsMax) versions.shift();
        await machine.wait(life, machine.faults.writeMs);
      },
      close: () => (life === machine.life ? Promise.resolve() : never()),
    };
  }

  crash(): void {
    for (const versions of this.files.values()) {
      if (versions.length === 0 || !this.machine.chance(this.machine.faults.markLossRate)) continue;
      versions.length = this.machine.pick(versions.length);
      this.machine.counts.marksLost += 1;
    }
  }

  /** Its checksum finds that: it is as good as absent. */
  flipBit(file: string): boolean {
    const versions = this.files.get(file);
    if (!versions || versions.length === 0) return false;
    versions[versions.length - 1] = undefined;
    return true;
  }

  move(from: string, to: string): void {
    for (const [file, versions] of this.files) {
      if (!isBelow(file, from)) continue;
      this.files.delete(file);
      this.files.set(to + file.slice(from.length), versions);
    }
  }

  remove(directory: string): void {
    for (const file of this.files.keys()) if (isBelow(file, directory)) this.files.delete(file);
  }

  bytesBelow(directory: string): number {
    let bytes = 0;
    for (const [file, versions] of this.files) {
      if (isBelow(file, directory)) bytes += versions.at(-1)?.length ?? 0;
    }
    return bytes;
  }
}

function isBelow(file: string, directory: string): boolean {
  return file.startsWith(`${directory}/`);
}
