/**
 * The nodes and the pods on them. A scheduled pod counts on its node immediately (assumed), before
 * the server confirms the binding; an assumption that is never confirmed expires. Scheduling cycles
 * read a snapshot, which `snapshot` brings up to date.
 */
import type { Clock } from '@orch/component';
import type { Node } from '@orch/types/core/v1';
import { assumedPodTimeToLiveMs } from '../limits.js';
import { NodeInfo } from '../model/node-info.js';
import type { PodInfo } from '../model/pod-info.js';
import { Snapshot } from './snapshot.js';

interface PlacedPod {
  readonly info: PodInfo;
  readonly node: NodeInfo;
  /** The expiry of an assumed pod whose binding has been accepted. */
  expiresAtMs?: number;
}

export class ClusterCache {
  private readonly nodes = new Map<string, NodeInfo>();
  private readonly pods = new Map<string, PlacedPod>();
  private readonly assumed = new Map<string, PlacedPod>();
  private readonly changed = new Set<string>();
  private readonly current = new Snapshot();
  private existingNodeCount = 0;

  constructor(private readonly clock: Pick<Clock, 'monotonicMs'>) {}

  get nodeCount(): number {
    return this.existingNodeCount;
  }

  get podCount(): number {
    return this.pods.size;
  }

  get assumedPodCount(): number {
    return this.assumed.size;
  }

  /** Brings the snapshot up to date. It is valid until the next call. */
  snapshot(): Snapshot {
    this.current.update(this.changed, (name) => this.node(name)?.clone());
    this.changed.clear();
    return this.current;
  }

  node(name: string): NodeInfo | undefined {
    const info = this.nodes.get(name);
    return info?.node ? info : undefined;
  }

  /** Returns the name of the node on which the pod counts. */
  nodeOf(key: string): string | undefined {
    return this.pods.get(key)?.node.name;
  }

  /** Returns a pod that counts on a node. */
  pod(key: string): PodInfo | undefined {
    return this.pods.get(key)?.info;
  }

  setNode(node: Node): void {
    const info = this.info(node.metadata?.name ?? '');
    if (!info.node) this.existingNodeCount++;
    info.setNode(node);
    this.changed.add(info.name);
  }

  /**
   * Removes the node. Its pods remain counted until they are deleted, because the node may be added
   * again.
   */
  removeNode(name: string): void {
    const info = this.nodes.get(name);
    if (!info?.node) return;
    info.node = undefined;
    this.existingNodeCount--;
    this.changed.add(name);
    this.dropIfEmpty(info);
  }

  /** Counts the pod on the node until the assumption is confirmed, forgotten or expired. */
  assume(info: PodInfo, nodeName: string): void {
    if (this.pods.has(info.key)) throw new Error(`pod ${info.key} already counts on a node`);
    const placed = { info, node: this.info(nodeName) };
    this.place(placed);
    this.assumed.set(info.key, placed);
  }

  /** Starts the expiry of the assumption after the server has accepted the binding. */
  bound(key: string): void {
    const placed = this.assumed.get(key);
    if (placed) placed.expiresAtMs = this.clock.monotonicMs() + assumedPodTimeToLiveMs;
  }

  /** Drops the assumption after a failed binding. */
  forget(key: string): void {
    const placed = this.assumed.get(key);
    if (placed) this.unplace(placed);
  }

  /** Sets the pod and its node as reported by the watch, which overrides any assumption. */
  setPod(info: PodInfo, nodeName: string): void {
    const old = this.pods.get(info.key);
    if (old) this.unplace(old);
    this.place({ info, node: this.info(nodeName) });
  }

  /** Removes a pod that was deleted or has ended. */
  removePod(key: string): void {
    const placed = this.pods.get(key);
    if (placed) this.unplace(placed);
  }

  /** Drops expired assumptions and returns their pod keys. */
  expire(): string[] {
    const nowMs = this.clock.monotonicMs();
    const expired = [...this.assumed.values()].filter(
      (placed) => placed.expiresAtMs !== undefined && placed.expiresAtMs <= nowMs,
    );
    for (const placed of expired) this.unplace(placed);
    return expired.map((placed) => placed.info.key);
  }

  private info(name: string): NodeInfo {
    let info = this.nodes.get(name);
    if (!info) {
      info = new NodeInfo(name);
      this.nodes.set(name, info);
    }
    return info;
  }

  private place(placed: PlacedPod): void {
    placed.node.addPod(placed.info);
    this.pods.set(placed.info.key, placed);
    this.changed.add(placed.node.name);
  }

  private unplace(placed: PlacedPod): void {
    placed.node.removePod(placed.info.key);
    this.pods.delete(placed.info.key);
    this.assumed.delete(placed.info.key);
    this.changed.add(placed.node.name);
    this.dropIfEmpty(placed.node);
  }

  private dropIfEmpty(node: NodeInfo): void {
    if (!node.node && node.pods.size === 0) this.nodes.delete(node.name);
  }
}
