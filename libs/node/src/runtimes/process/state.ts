/**
 * The state of the process runtime on disk: a directory per sandbox and per container, created
 * under a temporary name and then renamed, so that it is always complete. Environment and arguments
 * are in separate files with mode 0600, in the format that `shim.sh` reads.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '@orch/component';
import { writeFileAtomic } from '@orch/component';
import type {
  ContainerConfig,
  ContainerId,
  PodIdentity,
  SandboxConfig,
  SandboxId,
} from '../container-runtime.js';
import type { MountStep } from './mount-plan.js';

export interface SandboxRecord {
  readonly id: SandboxId;
  readonly config: SandboxConfig;
  readonly createdAtMs: number;
  /** A stopped sandbox never becomes ready again. */
  stopped: boolean;
  address?: string;
}

export interface ContainerRecord {
  readonly id: ContainerId;
  readonly sandboxId: SandboxId;
  readonly pod: PodIdentity;
  readonly config: Omit<ContainerConfig, 'environment' | 'command' | 'args'>;
  readonly createdAtMs: number;
  readonly logPath: string;
}

/** The settings in the order in which `shim.sh` reads them. */
export interface ShimOptions {
  readonly exitFile: string;
  readonly logPath: string;
  /** Empty for the host's root. */
  readonly rootDirectory: string;
  readonly workingDirectory: string;
  readonly searchPath: string;
  /** Empty for no change. */
  readonly hostname: string;
  /** `uid:gid`; empty for no change. */
  readonly user: string;
  /** Separated by commas. */
  readonly groups: string;
  /** `open`: the command reads the pipe `stdin`; empty: no input. */
  readonly input: '' | 'open';
  /**
   * `own`: the command has a terminal, whose path is written to the file `terminal`; empty: none.
   */
  readonly terminal: '' | 'own';
}

export interface ShimInput {
  readonly settings: ShimOptions;
  readonly argv: readonly string[];
  /** `NAME=value`. */
  readonly environment: readonly string[];
  readonly mounts: readonly MountStep[];
}

const temporarySuffix = '.new';

export class RuntimeState {
  private readonly sandboxes: string;
  private readonly containers: string;
  readonly exits: string;

  constructor(
    root: string,
    private readonly logger: Logger,
  ) {
    this.sandboxes = join(root, 'sandboxes');
    this.containers = join(root, 'containers');
    this.exits = join(root, 'exits');
    for (const directory of [root, this.sandboxes, this.containers, this.exits]) {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
    }
  }

  loadSandboxes(): SandboxRecord[] {
    return this.load<SandboxRecord>(this.sandboxes, 'sandbox.json');
  }

  loadContainers(): ContainerRecord[] {
    return this.load<ContainerRecord>(this.containers, 'container.json');
  }

  saveSandbox(record: SandboxRecord): void {
    const directory = join(this.sandboxes, record.id);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileAtomic(join(directory, 'sandbox.json'), JSON.stringify(record), 0o600);
  }

  removeSandbox(id: SandboxId): void {
    rmSync(join(this.sandboxes, id), { recursive: true, force: true });
  }

  createContainer(record: ContainerRecord, input: ShimInput): void {
    const directory = this.containerDirectory(record.id);
    const fresh = directory + temporarySuffix;
    mkdirSync(join(fresh, 'root'), { recursive: true, mode: 0o700 });
    mkdirSync(join(fresh, 'scratch'), { mode: 0o700 });
    const { settings } = input;
    const write = (name: string, values: readonly string[]) =>
      writeFileSync(join(fresh, name), values.map((value) => `${value}\0`).join(''), {
        mode: 0o600,
      });
    write('settings', [
      settings.exitFile,
      settings.logPath,
      settings.rootDirectory,
      settings.workingDirectory,
      settings.searchPath,
      settings.hostname,
      settings.user,
      settings.groups,
      settings.input,
      settings.terminal,
    ]);
    write('argv', input.argv);
    write('env', input.environment);
    write(
      'mounts',
      input.mounts.flatMap((step) => [step.operation, step.source, step.target]),
    );
    writeFileSync(join(fresh, 'container.json'), JSON.stringify(record), { mode: 0o600 });
    renameSync(fresh, directory);
  }

  removeContainer(id: ContainerId): void {
    const directory = this.containerDirectory(id);
    // Not recursive: if the host's tree were still mounted there, it must not be deleted.
    for (const name of ['root', 'scratch']) {
      if (existsSync(join(directory, name))) rmdirSync(join(directory, name));
    }
    rmSync(directory, { recursive: true, force: true });
    rmSync(this.exitFile(id), { force: true });
  }

  containerDirectory(id: ContainerId): string {
    return join(this.containers, id);
  }

  /** Returns the directories of all containers, with or without a record. */
  containerDirectories(): string[] {
    return readdirSync(this.containers).map((name) => join(this.containers, name));
  }

  exitFile(id: ContainerId): string {
    return join(this.exits, id);
  }

  environmentOf(id: ContainerId): string[] {
    const text = readFileSync(join(this.containerDirectory(id), 'env'), 'utf8');
    return text.split('\0').slice(0, -1);
  }

  private load<T>(directory: string, file: string): T[] {
    const records: T[] = [];
    for (const name of readdirSync(directory)) {
      const path = join(directory, name, file);
      if (name.endsWith(temporarySuffix) || !existsSync(path)) {
        rmSync(join(directory, name), { recursive: true, force: true });
        this.logger.warn({ directory: join(directory, name) }, 'removed incomplete state');
        continue;
      }
      records.push(JSON.parse(readFileSync(path, 'utf8')) as T);
    }
    return records;
  }
}
