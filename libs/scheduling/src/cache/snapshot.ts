/**
 * The nodes and pods that a scheduling cycle sees. It changes only between cycles, when the cache
 * brings it up to date; the cost of that depends on the number of changed nodes only. Nodes of
 * different zones alternate in the list, so that a sample of it covers all zones.
 */
import { dialect } from '@orch/component';
import type { NodeInfo } from '../model/node-info.js';

/** The part of the snapshot that plugins read. */
export interface ClusterView {
  /** Nodes whose object exists, in a stable order. */
  readonly nodes: readonly NodeInfo[];
  /** Nodes with at least one pod that has affinity terms. */
  readonly nodesWithAffinity: Iterable<NodeInfo>;
  readonly nodesWithRequiredAntiAffinity: Iterable<NodeInfo>;
  readonly node: (name: string) => NodeInfo | undefined;
  /** Returns the number of nodes that have the image. */
  readonly imageHolderCount: (image: string) => number;
}

export class Snapshot implements ClusterView {
  nodes: NodeInfo[] = [];
  private readonly byName = new Map<string, NodeInfo>();
  private positions = new Map<string, number>();
  private readonly withAffinity = new Map<string, NodeInfo>();
  private readonly withRequiredAntiAffinity = new Map<string, NodeInfo>();
  private readonly imageHolders = new Map<string, number>();

  get nodesWithAffinity(): Iterable<NodeInfo> {
    return this.withAffinity.values();
  }

  get nodesWithRequiredAntiAffinity(): Iterable<NodeInfo> {
    return this.withRequiredAntiAffinity.values();
  }

  node(name: string): NodeInfo | undefined {
    return this.byName.get(name);
  }

  imageHolderCount(image: string): number {
    return this.imageHolders.get(image) ?? 0;
  }

  /** Replaces the changed nodes. `current` returns undefined for a node that does not exist. */
  update(changed: Iterable<string>, current: (name: string) => NodeInfo | undefined): void {
    let orderChanged = false;
    for (const name of changed) {
      const old = this.byName.get(name);
      const next = current(name);
      this.countImages(old, next);
      this.index(name, next);
      if (!next) {
        orderChanged = this.byName.delete(name) || orderChanged;
        continue;
      }
      this.byName.set(name, next);
      const position = this.positions.get(name);
      if (position === undefined || !areInOneZone(old!, next)) orderChanged = true;
      else this.nodes[position] = next;
    }
    if (orderChanged) this.order();
  }

  private countImages(old: NodeInfo | undefined, next: NodeInfo | undefined): void {
    if (old?.images === next?.images) return;
    for (const image of old?.images.keys() ?? []) {
      const count = this.imageHolderCount(image) - 1;
      if (count === 0) this.imageHolders.delete(image);
      else this.imageHolders.set(image, count);
    }
    for (const image of next?.images.keys() ?? []) {
      this.imageHolders.set(image, this.imageHolderCount(image) + 1);
    }
  }

  private index(name: string, node: NodeInfo | undefined): void {
    if (node && node.podsWithAffinity.size > 0) this.withAffinity.set(name, node);
    else this.withAffinity.delete(name);
    if (node && node.podsWithRequiredAntiAffinity.size > 0) {
      this.withRequiredAntiAffinity.set(name, node);
    } else this.withRequiredAntiAffinity.delete(name);
  }

  private order(): void {
    const zones = new Map<string, NodeInfo[]>();
    for (const node of this.byName.values()) {
      const zone = zoneOf(node);
      const members = zones.get(zone);
      if (members) members.push(node);
      else zones.set(zone, [node]);
    }
    this.nodes = [];
    for (let round = 0; this.nodes.length < this.byName.size; round++) {
      for (const members of zones.values()) {
        if (round < members.length) this.nodes.push(members[round]!);
      }
    }
    this.positions = new Map(this.nodes.map((node, position) => [node.name, position]));
  }
}

function areInOneZone(node: NodeInfo, other: NodeInfo): boolean {
  return node.labels === other.labels || zoneOf(node) === zoneOf(other);
}

/** Returns the region and zone of a node; the same text for all nodes without them. */
export function zoneOf({ labels }: NodeInfo): string {
  const label = (name: string) =>
    labels[dialect().key(name, 'topology')] ??
    labels[dialect().key(name, 'failure-domain.beta')] ??
    '';
  return `${label('region')}/${label('zone')}`;
}
