/**
 * Plans the private root of a container: the host's own tree, entry by entry, with the container's
 * mounts placed in it and nothing of the host changed. Pure: the host's tree is read through `HostTree`.
 *
 * The root is a small tmpfs into which each top-level entry of the host is bound, so a mount point at the
 * top (`/data`) is just made there. Where a mount point is missing further down (`/etc/config`), the
 * nearest existing directory gets an overlay whose upper layer lives in a scratch tmpfs: what the
 * container writes into that one directory is its own and ends with it. `/dev` and `/proc` are new.
 */
import { posix } from 'node:path';
import { mountCountMax, scratchTmpfsSize } from '../../limits.js';
import { type Mount, RuntimeError } from '../container-runtime.js';

export type EntryType = 'directory' | 'file' | 'link' | 'missing';

export interface HostTree {
  /** Names in `/`. */
  topLevelNames(): readonly string[];
  /** Without following a link at the end. */
  entryType(path: string): EntryType;
  /** With links followed; undefined if it leads nowhere. */
  realPath(path: string): string | undefined;
  linkTarget(path: string): string;
}

/** As `shim.sh` carries it out; targets are host paths. */
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
  /** Empty directories on the host that become the root and the place of overlays' upper layers. */
  readonly rootDirectory: string;
  readonly scratchDirectory: string;
  readonly hostPid: boolean;
  readonly readOnlyRoot: boolean;
}

/** Entries that are made anew, or are of no use in a container. */
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
  /** Container paths below which anything may be made without changing the host. */
  private readonly own: string[] = [];
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
    this.own.push('/dev');
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
      const message = `nothing can be mounted at "${mount.containerPath}"`;
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
    if (type === 'directory') this.own.push(containerPath);
  }

  /** The path with links resolved, once steps have been added after which it exists. */
  private makeMountPoint(containerPath: string, type: 'directory' | 'file'): string {
    let existing = '/';
    const names = posix.normalize(containerPath).split('/').filter(Boolean);
    for (let index = 0; index < names.length; index += 1) {
      const path = posix.join(existing, names[index]!);
      const rest = names.slice(index + 1);
      if (this.isOwn(existing)) return this.make(posix.join(path, ...rest), type);
      const found = this.isOwn(path) ? 'directory' : this.host.entryType(path);
      if (found === 'missing') {
        if (existing !== '/') this.overlay(existing);
        return this.make(posix.join(path, ...rest), type);
      }
      const real = found === 'link' ? this.host.realPath(path) : path;
      if (real === undefined) {
        throw new RuntimeError('InvalidConfig', `${path} is a link that leads nowhere`);
      }
      if (found === 'link') return this.makeMountPoint(posix.join(real, ...rest), type);
      if (rest.length > 0 && found !== 'directory') {
        throw new RuntimeError('InvalidConfig', `${path} is not a directory`);
      }
      if (rest.length === 0 && found !== type) {
        throw new RuntimeError('InvalidConfig', `${path} is a ${found}, the volume a ${type}`);
      }
      existing = path;
    }
    return existing;
  }

  private make(path: string, type: 'directory' | 'file'): string {
    this.add('directory', '', this.inside(type === 'directory' ? path : posix.dirname(path)));
    if (type === 'file') this.add('file', '', this.inside(path));
    return path;
  }

  private overlay(path: string): void {
    const layer = posix.join(this.input.scratchDirectory, String(this.overlayCount));
    this.overlayCount += 1;
    this.add('overlay', layer, this.inside(path));
    this.own.push(path);
  }

  private isOwn(path: string): boolean {
    return this.own.some((root) => path === root || path.startsWith(`${root}/`));
  }

  private inside(path: string): string {
    return posix.join(this.input.rootDirectory, path);
  }

  private add(operation: MountStep['operation'], source: string, target: string): void {
    this.steps.push({ operation, source, target });
  }
}
