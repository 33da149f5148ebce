/**
 * The volumes of one pod on this node: makes and updates their content, and tells where on the host each
 * mount of a container comes from. Everything but host paths lives below the pod's directory and goes
 * with it.
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
import { prepareHostPath } from './host-path.js';
import { type ProjectionContext, projectedFiles } from './projected-files.js';

/** Makes every volume of the pod, or brings it up to date; their host paths by name. Throws `BrokenReference`. */
export async function prepareVolumes(
  podDirectory: string,
  context: ProjectionContext,
): Promise<ReadonlyMap<string, string>> {
  const paths = new Map<string, string>();
  const group = context.pod.spec?.securityContext?.fsGroup;
  for (const volume of context.pod.spec?.volumes ?? []) {
    const path = join(podDirectory, 'volumes', volume.name);
    if (volume.hostPath) {
      prepareHostPath(volume.hostPath.path, volume.hostPath.type);
      paths.set(volume.name, volume.hostPath.path);
      continue;
    }
    if (volume.emptyDir) {
      makeEmptyDirectory(path, group);
      paths.set(volume.name, path);
      continue;
    }
    try {
      const projected = await projectedFiles(volume, context);
      if (!projected) throw new BrokenReference(`${kindOf(volume)} volumes are not supported here`);
      const files = group === undefined ? projected : groupReadable(projected);
      if (writeAtomicDirectory(path, files) && group !== undefined) own(path, group);
      paths.set(volume.name, path);
    } catch (error) {
      if (!(error instanceof BrokenReference)) throw error;
      const message = `MountVolume.SetUp failed for volume "${volume.name}" : ${error.message}`;
      throw new BrokenReference(message, { cause: error });
    }
  }
  return paths;
}

/** The mounts of a container, in the order of its spec. Throws `BrokenReference`. */
export function containerMounts(
  container: Container,
  volumes: ReadonlyMap<string, string>,
  environment: ReadonlyMap<string, string>,
): Mount[] {
  return (container.volumeMounts ?? []).map((mount) => {
    const volumePath = volumes.get(mount.name);
    if (volumePath === undefined) {
      throw new BrokenReference(`volume "${mount.name}" of container is not there`);
    }
    const subPath = mount.subPathExpr
      ? expand(mount.subPathExpr, (name) => environment.get(name))
      : mount.subPath;
    return {
      hostPath: subPath ? pathWithin(volumePath, subPath) : volumePath,
      containerPath: posix.resolve('/', mount.mountPath),
      readOnly: mount.readOnly ?? false,
      ...(isAccountMount(mount.mountPath) ? { optional: true } : {}),
    };
  });
}

/** The mount every pod is given for its service account; a runtime may be unable to place it. */
function isAccountMount(mountPath: string): boolean {
  return mountPath === `/var/run/secrets/${dialect().keyDomain}/serviceaccount`;
}

/** A path below the volume, made if missing; a link must not lead out of it. */
function pathWithin(volumePath: string, subPath: string): string {
  const path = join(volumePath, subPath);
  const root = realpathSync(volumePath);
  if (posix.isAbsolute(subPath) || !`${path}/`.startsWith(`${join(volumePath, '/')}`)) {
    throw new BrokenReference(`subPath "${subPath}" must be within the volume`);
  }
  if (!lstatSync(path, { throwIfNoEntry: false }))
    mkdirSync(path, { recursive: true, mode: 0o750 });
  if (!existsSync(path)) throw new BrokenReference(`subPath "${subPath}" is a broken link`);
  const real = realpathSync(path);
  if (real !== root && !real.startsWith(`${root}/`)) {
    throw new BrokenReference(`subPath "${subPath}" leads out of the volume`);
  }
  return real;
}

function makeEmptyDirectory(path: string, group: number | undefined): void {
  if (existsSync(path)) return;
  mkdirSync(path, { recursive: true });
  chmodSync(path, 0o777);
  if (group !== undefined) own(path, group);
}

/** With the owner's rights given to the group as well. */
function groupReadable(files: ReadonlyMap<string, VolumeFile>): Map<string, VolumeFile> {
  return new Map(
    [...files].map(([path, file]) => [
      path,
      { ...file, mode: file.mode | ((file.mode & 0o600) >> 3) },
    ]),
  );
}

/** Gives a volume to the pod's group, which new files in it inherit. */
function own(path: string, group: number): void {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return;
  chownSync(path, stat.uid, group);
  const mode = statSync(path).mode & 0o7777;
  if (!stat.isDirectory()) {
    chmodSync(path, mode | ((mode & 0o600) >> 3));
    return;
  }
  chmodSync(path, mode | 0o2070);
  for (const name of readdirSync(path)) own(join(path, name), group);
}

function kindOf(volume: Volume): string {
  return Object.keys(volume).find((key) => key !== 'name') ?? 'unknown';
}
