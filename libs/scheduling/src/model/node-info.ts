/**
 * A node with its pods, for scheduling decisions. Sums are updated when pods are added and removed,
 * so that only decisions about pods iterate over pods.
 */

import { Quantity } from '@orch/apimachinery';
import type { Node, Taint } from '@orch/types/core/v1';
import { derivedCountMax } from '../limits.js';
import type { HostPort, PodInfo } from './pod-info.js';
import { addResources, noResources, type Resources, resourcesOf } from './resources.js';
import type { Labels } from './selectors.js';

const everyAddress = '0.0.0.0';

export class NodeInfo {
  /** Undefined if there are pods on the node but its object does not exist. */
  node: Node | undefined;
  labels: Labels = {};
  taints: readonly Taint[] = [];
  unschedulable = false;
  allocatable: Resources = noResources();
  podCountMax = 0;
  /** Image name -> bytes. Replaced, never changed, by `setNode`. */
  images: ReadonlyMap<string, number> = new Map();

  readonly pods = new Map<string, PodInfo>();
  readonly requested: Resources = noResources();
  readonly requestedForScoring = { milliCpu: 0, memoryBytes: 0 };
  readonly podsWithAffinity = new Map<string, PodInfo>();
  readonly podsWithRequiredAntiAffinity = new Map<string, PodInfo>();
  private readonly portUses = new Map<string, number>();
  /** Results of `derive`, which hold until the pods change. A copy has none. */
  private readonly derived = new Map<string, unknown>();

  constructor(readonly name: string) {}

  setNode(node: Node): void {
    this.node = node;
    this.labels = node.metadata?.labels ?? {};
    this.taints = node.spec?.taints ?? [];
    this.unschedulable = node.spec?.unschedulable ?? false;
    this.allocatable = resourcesOf(node.status?.allocatable);
    const podCount = node.status?.allocatable?.pods;
    this.podCountMax = podCount === undefined ? 0 : Number(Quantity.parse(podCount).units());
    this.images = new Map(
      (node.status?.images ?? []).flatMap((image) =>
        (image.names ?? []).map((name): [string, number] => [name, Number(image.sizeBytes ?? 0)]),
      ),
    );
  }

  /** Returns an independent copy; the pods, which are immutable, are shared. */
  clone(): NodeInfo {
    const copy = new NodeInfo(this.name);
    copy.node = this.node;
    copy.labels = this.labels;
    copy.taints = this.taints;
    copy.unschedulable = this.unschedulable;
    copy.allocatable = this.allocatable;
    copy.podCountMax = this.podCountMax;
    copy.images = this.images;
    copyInto(copy.pods, this.pods);
    addResources(copy.requested, this.requested);
    Object.assign(copy.requestedForScoring, this.requestedForScoring);
    copyInto(copy.podsWithAffinity, this.podsWithAffinity);
    copyInto(copy.podsWithRequiredAntiAffinity, this.podsWithRequiredAntiAffinity);
    copyInto(copy.portUses, this.portUses);
    return copy;
  }

  /**
   * Returns what `compute` derives from the pods of this node, which is computed once until they
   * change. The key must determine the result: it names everything else that the result depends on.
   */
  derive<T>(key: string, compute: (pods: ReadonlyMap<string, PodInfo>) => T): T {
    const known = this.derived.get(key);
    // The key fixes the type of its value.
    if (known !== undefined) return known as T;
    const result = compute(this.pods);
    if (this.derived.size >= derivedCountMax) this.derived.clear();
    this.derived.set(key, result);
    return result;
  }

  addPod(pod: PodInfo): void {
    if (this.pods.has(pod.key)) throw new Error(`pod ${pod.key} is already on node ${this.name}`);
    this.pods.set(pod.key, pod);
    this.dropDerived();
    this.account(pod, 1);
    if (pod.hasAffinity) this.podsWithAffinity.set(pod.key, pod);
    if (pod.requiredAntiAffinity.length > 0) this.podsWithRequiredAntiAffinity.set(pod.key, pod);
  }

  /** Removes the pod with this key. Throws if it is not on the node. */
  removePod(key: string): void {
    const pod = this.pods.get(key);
    if (!pod) throw new Error(`pod ${key} is not on node ${this.name}`);
    this.pods.delete(key);
    this.dropDerived();
    this.account(pod, -1);
    if (pod.hasAffinity) this.podsWithAffinity.delete(key);
    if (pod.requiredAntiAffinity.length > 0) this.podsWithRequiredAntiAffinity.delete(key);
  }

  /** `clear` allocates, also for an empty map. */
  private dropDerived(): void {
    if (this.derived.size > 0) this.derived.clear();
  }

  /**
   * Whether `port` conflicts with one in use. A port on every address conflicts with the same port
   * on any.
   */
  hasPortConflict(port: HostPort): boolean {
    const use = `${port.protocol}/${port.port}/`;
    if (port.ip === everyAddress) return this.portUses.has(use);
    return this.portUses.has(use + everyAddress) || this.portUses.has(use + port.ip);
  }

  private account(pod: PodInfo, sign: 1 | -1): void {
    addResources(this.requested, pod.requests, sign);
    this.requestedForScoring.milliCpu += sign * pod.scoringRequests.milliCpu;
    this.requestedForScoring.memoryBytes += sign * pod.scoringRequests.memoryBytes;
    for (const port of pod.hostPorts) {
      // One entry for the port on any address, one for the specific address.
      for (const suffix of ['', port.ip]) {
        const use = `${port.protocol}/${port.port}/${suffix}`;
        const count = (this.portUses.get(use) ?? 0) + sign;
        if (count === 0) this.portUses.delete(use);
        else this.portUses.set(use, count);
      }
    }
  }
}

function copyInto<K, V>(target: Map<K, V>, source: ReadonlyMap<K, V>): void {
  for (const [key, value] of source) target.set(key, value);
}
