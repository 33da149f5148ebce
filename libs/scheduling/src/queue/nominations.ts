/**
 * Pods that are nominated to run on a node: a preemption makes room for them there. They are not
 * assigned yet, but nodes are filtered as if they were.
 */
import type { PodInfo } from '../model/pod-info.js';

const none: readonly PodInfo[] = [];

export class Nominations {
  private readonly byNode = new Map<string, Map<string, PodInfo>>();
  private readonly nodes = new Map<string, string>();

  get size(): number {
    return this.nodes.size;
  }

  /** Returns the pods that are nominated for the node. */
  on(node: string): readonly PodInfo[] {
    const pods = this.byNode.get(node);
    return pods ? [...pods.values()] : none;
  }

  nodeOf(uid: string): string | undefined {
    return this.nodes.get(uid);
  }

  /** Nominates the pod for `node`; replaces an earlier nomination. */
  set(pod: PodInfo, node: string): void {
    this.delete(pod.uid);
    this.nodes.set(pod.uid, node);
    let pods = this.byNode.get(node);
    if (!pods) {
      pods = new Map();
      this.byNode.set(node, pods);
    }
    pods.set(pod.uid, pod);
  }

  /**
   * Applies a pod that the watch has reported. A nomination that the server has not reported yet
   * is retained.
   */
  update(pod: PodInfo, old?: Pick<PodInfo, 'nominatedNode'>): void {
    const known = this.nodes.get(pod.uid);
    const isUnreported = !pod.nominatedNode && !old?.nominatedNode;
    const node = pod.nominatedNode ?? (isUnreported ? known : undefined);
    if (node) this.set(pod, node);
    else this.delete(pod.uid);
  }

  delete(uid: string): void {
    const node = this.nodes.get(uid);
    if (node === undefined) return;
    this.nodes.delete(uid);
    const pods = this.byNode.get(node)!;
    pods.delete(uid);
    if (pods.size === 0) this.byNode.delete(node);
  }
}
