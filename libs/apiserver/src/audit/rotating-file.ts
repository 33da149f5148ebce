/**
 * A file that lines are appended to. Before it would grow beyond its size it is renamed to
 * `NAME-TIME.EXTENSION` and begun anew; of the old ones those that are too old or too many are deleted,
 * and the others compressed if that is wanted.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Clock, Logger } from '@orch/component';
import type { LineOutput } from './log-sink.js';

export interface RotationSettings {
  readonly path: string;
  readonly bytesMax: number;
  /** 0: as many as there are. */
  readonly backupCountMax: number;
  /** 0: however old. */
  readonly backupAgeMaxMs: number;
  readonly compress: boolean;
}

const filePermissions = 0o600;
const gzipEnd = '.gz';

export class RotatingFile implements LineOutput {
  private file: FileHandle | undefined;
  private bytes = 0;
  private tidying: Promise<void> = Promise.resolve();

  constructor(
    private readonly settings: RotationSettings,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Rejects when the file cannot be had. */
  async open(): Promise<void> {
    await mkdir(dirname(this.settings.path), { recursive: true });
    this.file = await open(this.settings.path, 'a', filePermissions);
    this.bytes = (await this.file.stat()).size;
    this.tidy();
  }

  async write(lines: string): Promise<void> {
    const chunk = Buffer.from(lines);
    if (this.bytes > 0 && this.bytes + chunk.length > this.settings.bytesMax) await this.rotate();
    if (!this.file) await this.open();
    await this.file!.appendFile(chunk);
    this.bytes += chunk.length;
  }

  async close(): Promise<void> {
    await this.file?.close();
    this.file = undefined;
    await this.tidying;
  }

  private async rotate(): Promise<void> {
    await this.file?.close();
    this.file = undefined;
    const time = new Date(this.clock.nowMs()).toISOString().replaceAll(':', '-').slice(0, -1);
    await rename(this.settings.path, this.backupPath(time));
    await this.open();
  }

  private backupPath(time: string): string {
    const { path } = this.settings;
    const extension = extname(path);
    return join(dirname(path), `${basename(path, extension)}-${time}${extension}`);
  }

  /** In the background, one at a time: what cannot be tidied now is tried again at the next rotation. */
  private tidy(): void {
    this.tidying = this.tidying
      .then(() => this.tidyNow())
      .catch((error: unknown) => {
        this.logger.warn({ err: error }, 'old audit logs not tidied up');
      });
  }

  private async tidyNow(): Promise<void> {
    const { backupCountMax, backupAgeMaxMs, compress } = this.settings;
    const oldestMs = backupAgeMaxMs > 0 ? this.clock.nowMs() - backupAgeMaxMs : 0;
    const backups = await this.backups();
    const isKept = ({ ms }: Backup, index: number) =>
      ms >= oldestMs && (backupCountMax === 0 || index < backupCountMax);
    for (const [index, backup] of backups.entries()) {
      if (!isKept(backup, index)) await rm(backup.path, { force: true });
      else if (compress && !backup.path.endsWith(gzipEnd)) await compressFile(backup.path);
    }
  }

  /** The newest first. */
  private async backups(): Promise<Backup[]> {
    const { path } = this.settings;
    const extension = extname(path);
    const head = `${basename(path, extension)}-`;
    const names = await readdir(dirname(path));
    return names
      .flatMap((name) => {
        const plain = name.endsWith(gzipEnd) ? name.slice(0, -gzipEnd.length) : name;
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

/** A half of it, after a crash, is written over by the next attempt. */
async function compressFile(path: string): Promise<void> {
  const target = `${path}${gzipEnd}`;
  const output = createWriteStream(`${target}.tmp`, { mode: filePermissions });
  await pipeline(createReadStream(path), createGzip(), output);
  await rename(`${target}.tmp`, target);
  await rm(path);
}
