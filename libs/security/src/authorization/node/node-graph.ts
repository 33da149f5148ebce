/**
 * Which node may read which object: the pods of a node refer to secrets, config maps, claims and
 * service accounts; a claim leads to its volume, a volume to its secrets. Nothing here reads the
 * store; references count whether or not the object exists.
 */
import type { Node, PersistentVolume, Pod } from '@orch/types/core/v1';
import type { VolumeAttachment } from '@orch/types/storage/v1';
import { podReferences, type ReachedKind, referenceKey, volumeSecrets } from './references.js';

interface Source {
  readonly node: string;
  readonly references: readonly string[];
}

interface BoundVolume {
  /** Key of the claim; undefined while the volume is not bound. */
  readonly claim: string | undefined;
  readonly secrets: readonly string[];
}

export class NodeGraph {
  /** What gives nodes access, by the key of the pod, node or attachment. */
  private readonly sources = new Map<string, Source>();
  /** By reference: how many sources give a node access to it. */
  private readonly nodes = new Map<string, Map<string, number>>();
  private readonly volumes = new Map<string, BoundVolume>();
  private readonly volumesBySecret = new Map<string, Set<string>>();

  /** `isMirror`: a mirror pod, which the node itself has created, gives no access. */
  setPod(key: string, pod: Pod, isMirror: boolean): void {
    const node = pod.spec?.nodeName ?? '';
    if (node === '' || isMirror) this.deleteSource(key);
    else this.setSource(key, { node, references: podReferences(pod) });
  }

  setAttachment(key: string, { metadata, spec }: VolumeAttachment): void {
    const reference = referenceKey('volumeattachments', '', metadata?.name ?? '');
    this.setSource(key, { node: spec?.nodeName ?? '', references: [reference] });
  }

  /** A node reads the config map of its own configuration. */
  setNode(key: string, { metadata, spec }: Node): void {
    const { namespace = '', name = '' } = spec?.configSource?.configMap ?? {};
    if (name === '') this.deleteSource(key);
    else {
      const references = [referenceKey('configmaps', namespace, name)];
      this.setSource(key, { node: metadata?.name ?? '', references });
    }
  }

  /** Removes a pod, node or attachment. */
  deleteSource(key: string): void {
    const source = this.sources.get(key);
    if (!source) return;
    this.sources.delete(key);
    for (const reference of source.references) this.release(reference, source.node);
  }

  setVolume(name: string, volume: PersistentVolume): void {
    this.deleteVolume(name);
    const { namespace = '', name: claimName } = volume.spec?.claimRef ?? {};
    const claim = claimName && referenceKey('persistentvolumeclaims', namespace, claimName);
    const secrets = volumeSecrets(volume);
    this.volumes.set(name, { claim: claim || undefined, secrets });
    for (const secret of secrets) {
      const names = this.volumesBySecret.get(secret) ?? new Set();
      this.volumesBySecret.set(secret, names.add(name));
    }
  }

  deleteVolume(name: string): void {
    for (const secret of this.volumes.get(name)?.secrets ?? []) {
      const names = this.volumesBySecret.get(secret);
      names?.delete(name);
      if (names?.size === 0) this.volumesBySecret.delete(secret);
    }
    this.volumes.delete(name);
  }

  /** Reports whether the node may read the object. */
  reaches(node: string, kind: ReachedKind, namespace: string, name: string): boolean {
    if (kind === 'persistentvolumes') return this.reachesVolume(node, name);
    const reference = referenceKey(kind, namespace, name);
    if (this.refers(node, reference)) return true;
    if (kind !== 'secrets') return false;
    const volumes = this.volumesBySecret.get(reference) ?? [];
    return [...volumes].some((volume) => this.reachesVolume(node, volume));
  }

  private reachesVolume(node: string, name: string): boolean {
    const claim = this.volumes.get(name)?.claim;
    return claim !== undefined && this.refers(node, claim);
  }

  private refers(node: string, reference: string): boolean {
    return this.nodes.get(reference)?.has(node) ?? false;
  }

  private setSource(key: string, source: Source): void {
    this.deleteSource(key);
    this.sources.set(key, source);
    for (const reference of source.references) {
      const counts = this.nodes.get(reference) ?? new Map<string, number>();
      this.nodes.set(reference, counts.set(source.node, (counts.get(source.node) ?? 0) + 1));
    }
  }

  private release(reference: string, node: string): void {
    const counts = this.nodes.get(reference);
    const left = (counts?.get(node) ?? 0) - 1;
    if (left > 0) counts?.set(node, left);
    else counts?.delete(node);
    if (counts?.size === 0) this.nodes.delete(reference);
  }
}
