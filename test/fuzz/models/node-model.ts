/** The objects that a node may read, recomputed from the list of all objects each time. */
import type { PersistentVolume } from '@orch/types/core/v1';
import type { GraphChange, Reference } from '../inputs/node-objects.js';

interface Source {
  readonly key: string;
  readonly node: string;
  readonly references: readonly Reference[];
  /** The name of an attachment. */
  readonly attachment?: string;
}

interface Volume {
  readonly name: string;
  readonly claim: { readonly namespace: string; readonly name: string } | undefined;
  readonly secrets: readonly { readonly namespace: string; readonly name: string }[];
}

export class NodeModel {
  private sources: Source[] = [];
  private volumes: Volume[] = [];

  apply(change: GraphChange): void {
    if (change.kind === 'set volume' || change.kind === 'delete volume') {
      this.volumes = this.volumes.filter(({ name }) => name !== change.name);
      if (change.kind === 'set volume') this.volumes.push(volumeOf(change));
      return;
    }
    this.sources = this.sources.filter(({ key }) => key !== change.key);
    const source = sourceOf(change);
    if (source) this.sources.push(source);
  }

  reaches(node: string, kind: string, namespace: string, name: string): boolean {
    const own = this.sources.filter((source) => source.node === node);
    const refers = (wanted: string, inNamespace: string, called: string) =>
      own.some(({ references }) =>
        references.some(
          (each) => each.kind === wanted && each.namespace === inNamespace && each.name === called,
        ),
      );
    const usable = this.volumes.filter(
      ({ claim }) => claim && refers('persistentvolumeclaims', claim.namespace, claim.name),
    );
    if (kind === 'volumeattachments') return own.some(({ attachment }) => attachment === name);
    if (kind === 'persistentvolumes') return usable.some((volume) => volume.name === name);
    if (refers(kind, namespace, name)) return true;
    if (kind !== 'secrets') return false;
    return usable.some(({ claim, secrets }) =>
      secrets.some(
        (secret) => secret.name === name && (secret.namespace || claim?.namespace) === namespace,
      ),
    );
  }
}

function sourceOf(change: GraphChange): Source | undefined {
  switch (change.kind) {
    case 'set pod': {
      const { key, isMirror, pod, references } = change;
      return { key, references, node: isMirror ? '' : (pod.spec?.nodeName ?? '') };
    }
    case 'set node':
      return { ...change, node: change.node.metadata?.name ?? '' };
    case 'set attachment': {
      const { metadata, spec } = change.attachment;
      const node = spec?.nodeName ?? '';
      return { key: change.key, node, references: [], attachment: metadata?.name ?? '' };
    }
    default:
      return undefined;
  }
}

function volumeOf(change: {
  readonly name: string;
  readonly volume: PersistentVolume;
  readonly secrets: Volume['secrets'];
}): Volume {
  const { namespace = '', name = '' } = change.volume.spec?.claimRef ?? {};
  const claim = name === '' ? undefined : { namespace, name };
  return { name: change.name, claim, secrets: change.secrets };
}
