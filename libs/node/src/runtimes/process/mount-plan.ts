/**
 * Plans the private root of a container: the host's tree with the mounts of the container, without
 * changes to the host. Pure: reads the host's tree through `HostTree`.
 *
 * The root is a small tmpfs with a bind mount of each top-level entry of the host, so a missing
 * top-level mount point (`/data`) is created in the tmpfs. For a missing mount point further down
 * (`/etc/config`), the nearest existing directory gets an overlay with the upper layer in a scratch
 * tmpfs: what the container writes to that directory is private and removed with it. `/dev` and
 * `/proc` are created for the container.
 */
import { posix } from 'node:path';
import { mountCountMax, scratchTmpfsSize } from '../../limits.js';
import { type Mount, RuntimeError } from '../container-runtime.js';

export type EntryType = 'directory' | 'file' | 'link' | 'missing';

export interface HostTree {
  /** Returns the names in `/`. */
  topLevelNames(): readonly string[];
  /** Returns the type of the entry, without following a final link. */
  entryType(path: string): EntryType;
  /** Returns the path with all links resolved; undefined for a broken link. */
  realPath(path: string): string | undefined;
  linkTarget(path: string): string;
}

/** A step that `shim.sh` performs; targets are host paths. */
export interface MountStep {
  readonly operation:
    | 'tmpfs'
    | 'proc'
    | 'bind'
    | 'readonly'
    | 'overlay'
    | 'directory'
    | 'file'
    | 'link'
    | 'devices';
  readonly source: string;
  readonly target: string;
}

export interface MountPlanInput {
  readonly mounts: readonly Mount[];
  /** Empty directories on the host for the root and for the upper layers of overlays. */
  readonly rootDirectory: string;
  readonly scratchDirectory: string;
  readonly hostPid: boolean;
  readonly readOnlyRoot: boolean;
}

/** Host entries that are created for the container or are useless in it. */
const replacedNames: ReadonlySet<string> = new Set(['proc', 'dev', 'lost+found']);

export function planMounts(input: MountPlanInput, host: HostTree): MountStep[] {
  if (input.mounts.length > mountCountMax) {
    throw new RuntimeError('InvalidConfig', `more than ${mountCountMax} mounts`);
  }
  const planner = new Planner(input, host);
  planner.planRoot();
  planner.planDevices();
  const byDepth = [...input.mounts].sort((left, right) => depth(left) - depth(right));
  for (const mount of byDepth) planner.planMount(mount);
  return planner.steps;
}

function depth(mount: Mount): number {
  return mount.containerPath.split('/').filter(Boolean).length;
}

class Planner {
  readonly steps: MountStep[] = [];
  /** Container paths that are private, so that changes below them do not affect the host. */
  private readonly privatePaths: string[] = [];
  private overlayCount = 0;

  constructor(
    private readonly input: MountPlanInput,
    private readonly host: HostTree,
  ) {}

  planRoot(): void {
    const { rootDirectory, scratchDirectory, hostPid, readOnlyRoot } = this.input;
    this.add('tmpfs', `mode=0755,size=${scratchTmpfsSize}`, rootDirectory);
    this.add('tmpfs', `mode=0700,size=${scratchTmpfsSize}`, scratchDirectory);
    for (const name of this.host.topLevelNames()) {
      if (replacedNames.has(name)) continue;
      const path = `/${name}`;
      const target = this.inside(path);
      const type = this.host.entryType(path);
      if (type === 'missing') continue;
      if (type === 'link') {
        this.add('link', this.host.linkTarget(path), target);
        continue;
      }
      this.add(type, '', target);
      this.add('bind', path, target);
      if (readOnlyRoot && name !== 'sys') this.add('readonly', '', target);
    }
    this.add('directory', '', this.inside('/proc'));
    this.add(hostPid ? 'bind' : 'proc', '/proc', this.inside('/proc'));
  }

  planDevices(): void {
    this.add('directory', '', this.inside('/dev'));
    this.add('tmpfs', `mode=0755,size=${scratchTmpfsSize}`, this.inside('/dev'));
    this.add('devices', '', this.inside('/dev'));
    this.privatePaths.push('/dev');
    const links = { fd: 'fd', stdin: 'fd/0', stdout: 'fd/1', stderr: 'fd/2' };
    for (const [name, target] of Object.entries(links)) {
      this.add('link', `/proc/self/${target}`, this.inside(`/dev/${name}`));
    }
    this.add('link', 'pts/ptmx', this.inside('/dev/ptmx'));
    this.add('directory', '', this.inside('/dev/pts'));
    if (this.host.entryType('/dev/pts') === 'directory') {
      this.add('bind', '/dev/pts', this.inside('/dev/pts'));
    }
    this.add('directory', '', this.inside('/dev/shm'));
    this.add('tmpfs', `mode=1777,size=${scratchTmpfsSize}`, this.inside('/dev/shm'));
  }

  planMount(mount: Mount): void {
    if (!posix.isAbsolute(mount.containerPath) || posix.normalize(mount.containerPath) === '/') {
      const message = `the mount path "${mount.containerPath}" must be absolute and not /`;
      throw new RuntimeError('InvalidConfig', message);
    }
    const source = this.host.realPath(mount.hostPath);
    if (source === undefined) {
      throw new RuntimeError('InvalidConfig', `${mount.hostPath} does not exist`);
    }
    const type = this.host.entryType(source) === 'directory' ? 'directory' : 'file';
    const containerPath = this.makeMountPoint(mount.containerPath, type);
    this.add('bind', source, this.inside(containerPath));
    if (mount.readOnly) this.add('readonly', '', this.inside(containerPath));
    if (type === 'directory') this.privatePaths.push(containerPath);
  }

  /** Adds the steps that create the mount point, and returns its path with links resolved. */
  private makeMountPoint(containerPath: string, type: 'directory' | 'file'): string {
    let existing = '/';
    const names = posix.normalize(containerPath).split('/').filter(Boolean);
    for (let index = 0; index < names.length; index += 1) {
      const path = posix.join(existing, names[index]!);
      const rest = names.slice(index + 1);
      if (this.isPrivate(existing)) return this.create(posix.join(path, ...rest), type);
      const found = this.isPrivate(path) ? 'directory' : this.host.entryType(path);
      if (found === 'missing') {
        if (existing !== '/') this.overlay(existing);
        return this.create(posix.join(path, ...rest), type);
      }
      const real = found === 'link' ? this.host.realPath(path) : path;
      if (real === undefined) {
        throw new RuntimeError('InvalidConfig', `${path} is a broken link`);
      }
      if (found === 'link') return this.makeMountPoint(posix.join(real, ...rest), type);
      if (rest.length > 0 && found !== 'directory') {
        throw new RuntimeError('InvalidConfig', `${path} is not a directory`);
      }
      if (rest.length === 0 && found !== type) {
        throw new RuntimeError(
          'InvalidConfig',
          `${path} is a ${found}, but the volume is a ${type}`,
        );
      }
      existing = path;
    }
    return existing;
  }

  private create(path: string, type: 'directory' | 'file'): string {
    this.add('directory', '', this.inside(type === 'directory' ? path : posix.dirname(path)));
    if (type === 'file') this.add('file', '', this.inside(path));
    return path;
  }

  private overlay(path: string): void {
    const layer = posix.join(this.input.scratchDirectory, String(this.overlayCount));
    this.overlayCount += 1;
    this.add('overlay', layer, this.inside(path));
    this.privatePaths.push(path);
  }

  private isPrivate(path: string): boolean {
    return this.privatePaths.some((root) => path === root || path.startsWith(`${root}/`));
  }

  private inside(path: string): string {
    return posix.join(this.input.rootDirectory, path);
  }

  private add(operation: MountStep['operation'], source: string, target: string): void {
    this.steps.push({ operation, source, target });
  }
}
