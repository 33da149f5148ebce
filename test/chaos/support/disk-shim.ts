/**
 * The disk of one server with faults: syncs can be slow or fail, and after a kill all unsynced data
 * can be removed, as after a power failure.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChaosCluster, Member } from './chaos-cluster.js';
import { chaosSources } from './repository.js';

/** Returns why disk faults are not supported here, if so. */
export function shimUnavailable(): string | undefined {
  if (process.platform !== 'linux') return 'needs Linux (LD_PRELOAD)';
  return spawnSync('gcc', ['--version']).status === 0 ? undefined : 'needs gcc';
}

export class ShimmedDisk {
  private constructor(
    private readonly member: Member,
    private readonly faultFile: string,
    private readonly syncFile: string,
  ) {}

  /** Takes effect at the next start of the member. */
  static install(cluster: ChaosCluster, member: Member): ShimmedDisk {
    const library = join(cluster.directory, 'disk-shim.so');
    if (!existsSync(library)) compile(library);
    const faultFile = join(cluster.directory, `${member.name}.fault`);
    const syncFile = join(cluster.directory, `${member.name}.syncs`);
    writeFileSync(faultFile, '');
    member.env = {
      ...member.env,
      LD_PRELOAD: library,
      DISK_FAULT_FILE: faultFile,
      DISK_FAULT_DIRECTORY: member.dataDirectory,
      DISK_SYNC_FILE: syncFile,
    };
    return new ShimmedDisk(member, faultFile, syncFile);
  }

  slowDown(ms: number): void {
    writeFileSync(this.faultFile, `slow ${ms}`);
  }

  failSyncs(): void {
    writeFileSync(this.faultFile, 'eio');
  }

  heal(): void {
    writeFileSync(this.faultFile, '');
  }

  /** Number of successful syncs. */
  get syncCount(): number {
    return existsSync(this.syncFile) ? this.syncs().length : 0;
  }

  /**
   * Truncates every file of the killed member to its last synced length; a file without a sync is
   * emptied. Returns how many bytes were lost. File names are unchanged, as if directories were
   * synced.
   */
  async loseUnsynced(): Promise<number> {
    const syncedBytes = new Map<string, number>();
    for (const line of this.syncs()) {
      const space = line.indexOf(' ');
      syncedBytes.set(line.slice(space + 1), Number(line.slice(0, space)));
    }
    let lost = 0;
    const entries = await readdir(this.member.dataDirectory, {
      recursive: true,
      withFileTypes: true,
    });
    for (const entry of entries) {
      if (!entry.isFile() || !mayLose(entry.name)) continue;
      const path = join(entry.parentPath, entry.name);
      const kept = syncedBytes.get(path) ?? 0;
      const { size } = statSync(path);
      if (size <= kept) continue;
      truncateSync(path, kept);
      lost += size - kept;
    }
    return lost;
  }

  private syncs(): string[] {
    return readFileSync(this.syncFile, 'utf8').split('\n').slice(0, -1);
  }
}

/** Journals of the database only grow; renamed files were synced under another name. */
function mayLose(name: string): boolean {
  return /^\d+\.log$/.test(name);
}

function compile(library: string): void {
  const source = join(chaosSources, 'support', 'disk-shim.c');
  const args = ['-shared', '-fPIC', '-O1', '-Wall', '-Werror', '-o', library, source, '-ldl'];
  const { status, stderr } = spawnSync('gcc', args);
  if (status !== 0) throw new Error(`gcc ${args.join(' ')}: ${stderr.toString()}`);
}
