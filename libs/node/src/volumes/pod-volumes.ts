/**
 * The volumes of one pod on this node: creates and updates their content, and maps the mounts of a
 * container to host paths. All volumes except host paths and those of claims are below the pod's
 * directory and are removed with it.
 */
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { join, posix } from 'node:path';
import { dialect } from '@orch/component';
import type { Container, Volume } from '@orch/types/core/v1';
import { expand } from '../environment/expand.js';
import { BrokenReference } from '../environment/referenced-objects.js';
import type { Mount } from '../runtimes/container-runtime.js';
import { type VolumeFile, writeAtomicDirectory } from './atomic-directory.js';
import type { ClaimMounts } from './claim-mounts.js';
import { prepareHostPath } from './host-path.js';
import { type ProjectionContext, projectedFiles } from './projected-files.js';

export interface PreparedVolume {
  readonly hostPath: string;
  /** Whether every mount is read-only. */
  readonly isReadOnly: boolean;
}

/** By volume name. */
export type PreparedVolumes = ReadonlyMap<string, PreparedVolume>;

/** Creates or updates every volume of the pod. Throws `BrokenReference`. */
export async function prepareVolumes(
  podDirectory: string,
  context: ProjectionContext,
  claims: ClaimMounts,
): Promise<PreparedVolumes> {
  const prepared = new Map<string, PreparedVolume>();
  const add = (name: string, hostPath: string, isReadOnly = false) =>
    prepared.set(name, { hostPath, isReadOnly });
  const group = context.pod.spec?.securityContext?.fsGroup;
  for (const volume of context.pod.spec?.volumes ?? []) {
    const path = join(podDirectory, 'volumes', volume.name);
    if (volume.hostPath) {
      prepareHostPath(volume.hostPath.path, volume.hostPath.type);
      add(volume.name, volume.hostPath.path);
      continue;
    }
    if (volume.emptyDir) {
      createEmptyDirectory(path, group);
      add(volume.name, path);
      continue;
    }
    try {
      if (volume.persistentVolumeClaim || volume.ephemeral) {
        const isReadOnly = volume.persistentVolumeClaim?.readOnly ?? false;
        const { mount, isNew } = await claims.find(context.pod, volume);
        if (isNew && mount.needsGroup && group !== undefined && !isReadOnly) {
          setGroup(mount.hostPath, group);
        }
        add(volume.name, mount.hostPath, isReadOnly);
        continue;
      }
      const projected = await projectedFiles(volume, context);
      if (!projected) throw new BrokenReference(`${kindOf(volume)} volumes are not supported`);
      const files = group === undefined ? projected : groupReadable(projected);
      if (writeAtomicDirectory(path, files) && group !== undefined) setGroup(path, group);
      add(volume.name, path);
    } catch (error) {
      if (!(error instanceof BrokenReference)) throw error;
      const message = `MountVolume.SetUp failed for volume "${volume.name}" : ${error.message}`;
      throw new BrokenReference(message, { cause: error });
    }
  }
  return prepared;
}

/** Returns the mounts of a container, in the order of its spec. Throws `BrokenReference`. */
export function containerMounts(
  container: Container,
  volumes: PreparedVolumes,
  environment: ReadonlyMap<string, string>,
): Mount[] {
  if (container.volumeDevices?.length) {
    throw new BrokenReference('block devices of volumes are not supported');
  }
  return (container.volumeMounts ?? []).map((mount) => {
    const volume = volumes.get(mount.name);
    if (!volume) throw new BrokenReference(`the pod has no volume "${mount.name}"`);
    const subPath = mount.subPathExpr
      ? expand(mount.subPathExpr, (name) => environment.get(name))
      : mount.subPath;
    return {
      hostPath: subPath ? pathWithin(volume.hostPath, subPath) : volume.hostPath,
      containerPath: posix.resolve('/', mount.mountPath),
      readOnly: volume.isReadOnly || (mount.readOnly ?? false),
      ...(isAccountMount(mount.mountPath) ? { optional: true } : {}),
    };
  });
}

/** Whether this is the mount of the service account token; a runtime may be unable to mount it. */
function isAccountMount(mountPath: string): boolean {
  return mountPath === `/var/run/secrets/${dialect().keyDomain}/serviceaccount`;
}

/**
 * Returns the real path of `subPath`, creating it if missing. Throws if it is outside the volume.
 */
function pathWithin(volumePath: string, subPath: string): string {
  const path = join(volumePath, subPath);
  const root = realpathSync(volumePath);
  if (posix.isAbsolute(subPath) || !`${path}/`.startsWith(`${join(volumePath, '/')}`)) {
    throw new BrokenReference(`subPath "${subPath}" must be within the volume`);
  }
  if (!lstatSync(path, { throwIfNoEntry: false })) {
    mkdirSync(path, { recursive: true, mode: 0o750 });
  }
  if (!existsSync(path)) throw new BrokenReference(`subPath "${subPath}" is a broken link`);
  const real = realpathSync(path);
  if (real !== root && !real.startsWith(`${root}/`)) {
    throw new BrokenReference(`subPath "${subPath}" is a link to a path outside the volume`);
  }
  return real;
}

function createEmptyDirectory(path: string, group: number | undefined): void {
  if (existsSync(path)) return;
  mkdirSync(path, { recursive: true });
  chmodSync(path, 0o777);
  if (group !== undefined) setGroup(path, group);
}

/** Returns the files with the owner's permissions also granted to the group. */
function groupReadable(files: ReadonlyMap<string, VolumeFile>): Map<string, VolumeFile> {
  return new Map(
    [...files].map(([path, file]) => [
      path,
      { ...file, mode: file.mode | ((file.mode & 0o600) >> 3) },
    ]),
  );
}

/** Sets the group of a volume recursively; new files inherit it. */
function setGroup(path: string, group: number): void {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return;
  chownSync(path, stat.uid, group);
  const mode = statSync(path).mode & 0o7777;
  if (!stat.isDirectory()) {
    chmodSync(path, mode | ((mode & 0o600) >> 3));
    return;
  }
  chmodSync(path, mode | 0o2070);
  for (const name of readdirSync(path)) setGroup(join(path, name), group);
}

function kindOf(volume: Volume): string {
  return Object.keys(volume).find((key) => key !== 'name') ?? 'unknown';
}
