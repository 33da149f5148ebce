/**
 * A node with the pods on it, as scheduling decisions see it: sums are kept up to date as pods come
 * and go, so that no decision walks over pods unless it is about pods.
 */

import { Quantity } from '@orch/apimachinery';
import type { Node, Taint } from '@orch/types/core/v1';
import type { HostPort, PodInfo } from './pod-info.js';
import { addResources, noResources, type Resources, resourcesOf } from './resources.js';
import type { Labels } from './selectors.js';

const everyAddress = '0.0.0.0';

export class NodeInfo {
  /** Undefined: pods are known to be here, the node object is not (yet or any more). */
  node: Node | undefined;
  labels: Labels = {};
  taints: readonly Taint[] = [];
  unschedulable = false;
  allocatable: Resources = noResources();
  podCountMax = 0;
  /** Image name -> bytes. */
  images: ReadonlyMap<string, number> = new Map();

  readonly pods = new Map<string, PodInfo>();
  readonly requested: Resources = noResources();
  readonly requestedForScoring = { milliCpu: 0, memoryBytes: 0 };
  readonly podsWithAffinity = new Map<string, PodInfo>();
  readonly podsWithRequiredAntiAffinity = new Map<string, PodInfo>();
  private readonly portUses = new Map<string, number>();

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

  addPod(pod: PodInfo): void {
    if (this.pods.has(pod.key)) throw new Error(`pod ${pod.key} is already on node ${this.name}`);
    this.pods.set(pod.key, pod);
    this.account(pod, 1);
    if (pod.hasAffinity) this.podsWithAffinity.set(pod.key, pod);
    if (pod.requiredAntiAffinity.length > 0) this.podsWithRequiredAntiAffinity.set(pod.key, pod);
  }

  /** Takes the pod with this key away, whatever object it was added with. */
  removePod(key: string): void {
    const pod = this.pods.get(key);
    if (!pod) throw new Error(`pod ${key} is not on node ${this.name}`);
    this.pods.delete(key);
    this.account(pod, -1);
    this.podsWithAffinity.delete(key);
    this.podsWithRequiredAntiAffinity.delete(key);
  }

  /** Would `port` collide with one in use? The same port on every address collides with any. */
  portTaken(port: HostPort): boolean {
    const use = `${port.protocol}/${port.port}/`;
    if (port.ip === everyAddress) return this.portUses.has(use);
    return this.portUses.has(use + everyAddress) || this.portUses.has(use + port.ip);
  }

  private account(pod: PodInfo, sign: 1 | -1): void {
    addResources(this.requested, pod.requests, sign);
    this.requestedForScoring.milliCpu += sign * pod.scoringRequests.milliCpu;
    this.requestedForScoring.memoryBytes += sign * pod.scoringRequests.memoryBytes;
    for (const port of pod.hostPorts) {
      // One entry for the port on any address, one for the address itself.
      for (const suffix of ['', port.ip]) {
        const use = `${port.protocol}/${port.port}/${suffix}`;
        const count = (this.portUses.get(use) ?? 0) + sign;
        if (count === 0) this.portUses.delete(use);
        else this.portUses.set(use, count);
      }
    }
  }
}
