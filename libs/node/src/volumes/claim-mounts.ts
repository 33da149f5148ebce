/**
 * The directories behind the claims of one pod: `local` and `hostPath` volumes. A claim is read
 * until its directory is known, which then stays the same for the life of the pod.
 */
import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  isClaimBound,
  isControlledBy,
  isReachable,
  localPathProvisioner,
  provisionedByKey,
  type SelectableNode,
} from '@orch/apimachinery';
import type { PersistentVolume, PersistentVolumeClaim, Pod, Volume } from '@orch/types/core/v1';
import { BrokenReference } from '../environment/referenced-objects.js';
import { prepareHostPath } from './host-path.js';

/** Access to the claims of the node's pods and to their volumes. */
export interface ClaimReader {
  /** Returns undefined if the object does not exist. Rejects with `BrokenReference`. */
  claim(namespace: string, name: string): Promise<PersistentVolumeClaim | undefined>;
  volume(name: string): Promise<PersistentVolume | undefined>;
  /** Returns the node of the agent with its present labels. */
  node(): Promise<SelectableNode>;
}

export interface ClaimMount {
  readonly hostPath: string;
  /** Whether its files get the group of the pod; those of `hostPath` volumes keep theirs. */
  readonly needsGroup: boolean;
}

export class ClaimMounts {
  private readonly known = new Map<string, ClaimMount>();

  constructor(private readonly reader: ClaimReader) {}

  /**
   * Returns the directory of a volume of the pod, and whether it is returned for the first time.
   * Throws `BrokenReference`.
   */
  async find(pod: Pod, volume: Volume): Promise<{ mount: ClaimMount; isNew: boolean }> {
    const found = this.known.get(volume.name);
    if (found) return { mount: found, isNew: false };
    const mount = prepared(await this.volumeOf(pod, volume));
    this.known.set(volume.name, mount);
    return { mount, isNew: true };
  }

  private async volumeOf(pod: Pod, volume: Volume): Promise<PersistentVolume> {
    const { namespace = '', name: podName } = pod.metadata ?? {};
    const claimName = volume.persistentVolumeClaim?.claimName ?? `${podName}-${volume.name}`;
    const text = `persistentvolumeclaim "${claimName}"`;
    const claim = await this.reader.claim(namespace, claimName);
    if (!claim) throw new BrokenReference(`${text} not found`);
    if (volume.ephemeral && !isControlledBy(claim, pod)) {
      throw new BrokenReference(`${text} was not created for the pod`);
    }
    if (claim.metadata?.deletionTimestamp) throw new BrokenReference(`${text} is being deleted`);
    if (!isClaimBound(claim) || claim.status?.phase !== 'Bound') {
      throw new BrokenReference(`${text} is not bound`);
    }
    const volumeName = claim.spec?.volumeName ?? '';
    const persistent = await this.reader.volume(volumeName);
    if (!persistent) throw new BrokenReference(`persistentvolume "${volumeName}" not found`);
    if (persistent.spec?.claimRef?.uid !== claim.metadata?.uid) {
      throw new BrokenReference(`persistentvolume "${volumeName}" is not bound to ${text}`);
    }
    // A pod with a node of its own choice was not checked by the scheduler.
    if (persistent.spec?.nodeAffinity && !isReachable(persistent, await this.reader.node())) {
      throw new BrokenReference(`persistentvolume "${volumeName}" is not for this node`);
    }
    return persistent;
  }
}

function prepared(volume: PersistentVolume): ClaimMount {
  const { metadata, spec } = volume;
  const text = `persistentvolume "${metadata?.name}"`;
  if (spec?.volumeMode === 'Block') {
    throw new BrokenReference(`${text} is a block device, which is not supported`);
  }
  if (spec?.local) {
    const stat = statSync(spec.local.path, { throwIfNoEntry: false });
    if (!stat?.isDirectory()) {
      throw new BrokenReference(`path "${spec.local.path}" of ${text} is not a directory`);
    }
    return { hostPath: spec.local.path, needsGroup: true };
  }
  if (!spec?.hostPath) {
    throw new BrokenReference(`${text} is neither a local nor a hostPath volume`);
  }
  const { path, type } = spec.hostPath;
  const isProvisioned = metadata?.annotations?.[provisionedByKey()] === localPathProvisioner();
  if (isProvisioned) createOpenDirectory(path);
  prepareHostPath(path, type);
  return { hostPath: path, needsGroup: false };
}

/** A new volume belongs to no user yet: any user of a container may write. */
function createOpenDirectory(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })) return;
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  mkdirSync(path);
  chmodSync(path, 0o777);
}
