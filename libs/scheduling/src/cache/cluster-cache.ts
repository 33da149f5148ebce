/**
 * The nodes and the pods on them. A pod that was given a node counts there at once (assumed), before
 * the server has confirmed it; an assumption that is never confirmed expires.
 * Updates touch one node each. A scheduling cycle is synchronous, so it reads this cache as it stands:
 * nothing can change under it, and no copy is made.
 */
import type { Clock } from '@orch/component';
import type { Node } from '@orch/types/core/v1';
import { assumedPodTimeToLiveMs } from '../limits.js';
import { NodeInfo } from '../model/node-info.js';
import type { PodInfo } from '../model/pod-info.js';

interface PlacedPod {
  readonly info: PodInfo;
  readonly node: NodeInfo;
  /** Set while only assumed and the binding has been sent: when to forget it. */
  expiresAtMs?: number;
}

/** What a scheduling cycle reads. */
export interface ClusterView {
  /** Nodes whose object is known, in a fixed order. */
  readonly nodes: readonly NodeInfo[];
  /** Nodes with at least one pod that has affinity terms. */
  readonly nodesWithAffinity: Iterable<NodeInfo>;
  readonly nodesWithRequiredAntiAffinity: Iterable<NodeInfo>;
}

export class ClusterCache implements ClusterView {
  readonly nodes: NodeInfo[] = [];
  readonly nodesWithAffinity = new Set<NodeInfo>();
  readonly nodesWithRequiredAntiAffinity = new Set<NodeInfo>();
  private readonly byName = new Map<string, NodeInfo>();
  private readonly positions = new Map<string, number>();
  private readonly pods = new Map<string, PlacedPod>();
  private readonly assumed = new Map<string, PlacedPod>();

  constructor(private readonly clock: Pick<Clock, 'monotonicMs'>) {}

  get podCount(): number {
    return this.pods.size;
  }

  get assumedPodCount(): number {
    return this.assumed.size;
  }

  node(name: string): NodeInfo | undefined {
    const info = this.byName.get(name);
    return info?.node ? info : undefined;
  }

  /** The node on which the pod counts. */
  nodeOf(key: string): string | undefined {
    return this.pods.get(key)?.node.name;
  }

  setNode(node: Node): void {
    const name = node.metadata?.name ?? '';
    const info = this.info(name);
    info.setNode(node);
    if (this.positions.has(name)) return;
    this.positions.set(name, this.nodes.length);
    this.nodes.push(info);
  }

  /** Pods of the node stay counted until they go themselves: the node may come back. */
  removeNode(name: string): void {
    const info = this.byName.get(name);
    const position = this.positions.get(name);
    if (!info || position === undefined) return;
    info.node = undefined;
    const last = this.nodes.pop()!;
    this.positions.delete(name);
    if (last !== info) {
      this.nodes[position] = last;
      this.positions.set(last.name, position);
    }
    this.dropIfEmpty(info);
  }

  /** The pod counts on the node from now on, until confirmed, forgotten or expired. */
  assume(info: PodInfo, nodeName: string): void {
    if (this.pods.has(info.key)) throw new Error(`pod ${info.key} already counts on a node`);
    const placed = { info, node: this.info(nodeName) };
    this.place(placed);
    this.assumed.set(info.key, placed);
  }

  /** The server has taken the binding: the watch must show it before the assumption expires. */
  bound(key: string): void {
    const placed = this.assumed.get(key);
    if (placed) placed.expiresAtMs = this.clock.monotonicMs() + assumedPodTimeToLiveMs;
  }

  /** The binding failed. */
  forget(key: string): void {
    const placed = this.assumed.get(key);
    if (placed) this.unplace(placed);
  }

  /** The watch shows the pod on this node, new or changed: the server's word over any assumption. */
  setPod(info: PodInfo, nodeName: string): void {
    const old = this.pods.get(info.key);
    if (old) this.unplace(old);
    this.place({ info, node: this.info(nodeName) });
  }

  /** The pod is gone or has ended. */
  removePod(key: string): void {
    const placed = this.pods.get(key);
    if (placed) this.unplace(placed);
  }

  /** Forgets assumptions that were not confirmed in time; returns their keys. */
  expire(): string[] {
    const nowMs = this.clock.monotonicMs();
    const expired = [...this.assumed.values()].filter(
      (placed) => placed.expiresAtMs !== undefined && placed.expiresAtMs <= nowMs,
    );
    for (const placed of expired) this.unplace(placed);
    return expired.map((placed) => placed.info.key);
  }

  private info(name: string): NodeInfo {
    let info = this.byName.get(name);
    if (!info) {
      info = new NodeInfo(name);
      this.byName.set(name, info);
    }
    return info;
  }

  private place(placed: PlacedPod): void {
    placed.node.addPod(placed.info);
    this.pods.set(placed.info.key, placed);
    this.index(placed.node);
  }

  private unplace(placed: PlacedPod): void {
    placed.node.removePod(placed.info.key);
    this.pods.delete(placed.info.key);
    this.assumed.delete(placed.info.key);
    this.index(placed.node);
    this.dropIfEmpty(placed.node);
  }

  private index(node: NodeInfo): void {
    if (node.podsWithAffinity.size > 0) this.nodesWithAffinity.add(node);
    else this.nodesWithAffinity.delete(node);
    if (node.podsWithRequiredAntiAffinity.size > 0) this.nodesWithRequiredAntiAffinity.add(node);
    else this.nodesWithRequiredAntiAffinity.delete(node);
  }

  private dropIfEmpty(node: NodeInfo): void {
    if (!node.node && node.pods.size === 0) this.byName.delete(node.name);
  }
}
