/**
 * A file that lines are appended to. Before a write exceeds its maximum size it is renamed to
 * `NAME-TIME.EXTENSION`; backups that are too old or too many are deleted, the others optionally
 * compressed.
 *
 * Not the library `rotating-file-stream`: it has no maximum age, rotates only after the size is
 * exceeded, and tracks the backups that it may delete in a file of its own.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Clock, Logger } from '@orch/component';
import type { LineOutput } from './log-sink.js';

export interface RotationOptions {
  readonly path: string;
  readonly bytesMax: number;
  /** 0: unlimited. */
  readonly backupCountMax: number;
  /** 0: unlimited. */
  readonly backupAgeMaxMs: number;
  readonly compress: boolean;
}

const filePermissions = 0o600;
const gzipExtension = '.gz';

export class RotatingFile implements LineOutput {
  private file: FileHandle | undefined;
  private bytes = 0;
  private pruning: Promise<void> = Promise.resolve();

  constructor(
    private readonly options: RotationOptions,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Rejects when the file cannot be opened. */
  async open(): Promise<void> {
    await mkdir(dirname(this.options.path), { recursive: true });
    this.file = await open(this.options.path, 'a', filePermissions);
    this.bytes = (await this.file.stat()).size;
    this.prune();
  }

  async write(lines: string): Promise<void> {
    const chunk = Buffer.from(lines);
    if (this.bytes > 0 && this.bytes + chunk.length > this.options.bytesMax) await this.rotate();
    if (!this.file) await this.open();
    await this.file!.appendFile(chunk);
    this.bytes += chunk.length;
  }

  async close(): Promise<void> {
    await this.file?.close();
    this.file = undefined;
    await this.pruning;
  }

  private async rotate(): Promise<void> {
    await this.file?.close();
    this.file = undefined;
    const time = new Date(this.clock.nowMs()).toISOString().replaceAll(':', '-').slice(0, -1);
    await rename(this.options.path, this.backupPath(time));
    await this.open();
  }

  private backupPath(time: string): string {
    const { path } = this.options;
    const extension = extname(path);
    return join(dirname(path), `${basename(path, extension)}-${time}${extension}`);
  }

  /**
   * Deletes and compresses backups in the background, one run at a time. A failure is retried at
   * the next rotation.
   */
  private prune(): void {
    this.pruning = this.pruning
      .then(() => this.pruneNow())
      .catch((error: unknown) => {
        this.logger.warn({ err: error }, 'audit log backups not deleted or compressed');
      });
  }

  private async pruneNow(): Promise<void> {
    const { backupCountMax, backupAgeMaxMs, compress } = this.options;
    const oldestMs = backupAgeMaxMs > 0 ? this.clock.nowMs() - backupAgeMaxMs : 0;
    const backups = await this.backups();
    const isRetained = ({ ms }: Backup, index: number) =>
      ms >= oldestMs && (backupCountMax === 0 || index < backupCountMax);
    for (const [index, backup] of backups.entries()) {
      if (!isRetained(backup, index)) await rm(backup.path, { force: true });
      else if (compress && !backup.path.endsWith(gzipExtension)) await compressFile(backup.path);
    }
  }

  /** The newest first. */
  private async backups(): Promise<Backup[]> {
    const { path } = this.options;
    const extension = extname(path);
    const head = `${basename(path, extension)}-`;
    const names = await readdir(dirname(path));
    return names
      .flatMap((name) => {
        const plain = name.endsWith(gzipExtension) ? name.slice(0, -gzipExtension.length) : name;
        if (!plain.startsWith(head) || !plain.endsWith(extension)) return [];
        const time = plain.slice(head.length, plain.length - extension.length);
        const ms = Date.parse(`${time.replace(/T(\d+)-(\d+)-/, 'T$1:$2:')}Z`);
        return Number.isNaN(ms) ? [] : [{ path: join(dirname(path), name), ms }];
      })
      .sort((left, right) => right.ms - left.ms);
  }
}

interface Backup {
  readonly path: string;
  readonly ms: number;
}

/** Replaces an incomplete file that a crash has left. */
async function compressFile(path: string): Promise<void> {
  const target = `${path}${gzipExtension}`;
  const output = createWriteStream(`${target}.tmp`, { mode: filePermissions });
  await pipeline(createReadStream(path), createGzip(), output);
  await rename(`${target}.tmp`, target);
  await rm(path);
}
