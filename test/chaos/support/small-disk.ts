/** A small file system, mounted for one run. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export function mountUnavailable(): string | undefined {
  if (process.platform !== 'linux') return 'needs Linux (tmpfs)';
  return process.getuid?.() === 0 ? undefined : 'needs root, to mount a tmpfs';
}

/** Left free, so that the next write of the cluster fails, not the last one of the ballast. */
const slackBytes = 16 * 1024;

export class SmallDisk {
  private constructor(readonly directory: string) {}

  static mount(directory: string, mebibytes: number): SmallDisk {
    mkdirSync(directory, { recursive: true });
    run('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'chaos', directory]);
    return new SmallDisk(directory);
  }

  fill(): void {
    const { bavail, bsize } = statfsSync(this.directory);
    writeFileSync(this.ballast, Buffer.alloc(Math.max(0, bavail * bsize - slackBytes)));
  }

  free(): void {
    rmSync(this.ballast, { force: true });
  }

  unmount(): void {
    run('umount', ['-l', this.directory]);
  }

  private get ballast(): string {
    return join(this.directory, 'ballast');
  }
}

function run(command: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(command, args);
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr.toString()}`);
}
