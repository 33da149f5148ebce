/**
 * Follows the resources of which quotas count the number, as long as one does, to tell when objects are gone.
 * What a server serves is asked when a quota names something unknown, and again and again so long.
 */
import { type CountedResource, countName } from '@orch/apimachinery';
import type { DiscoveredResource } from '@orch/client';
import { dialect } from '@orch/component';
import { ResourceMonitor } from '../garbage/resource-monitor.js';
import type { ControllerContext } from '../manager/controller.js';

const discoveryPeriodMs = 30_000;

export class CountedMonitors {
  private readonly monitors = new Map<string, ResourceMonitor>();
  private readonly known = new Map<string, DiscoveredResource>();
  private discoveredMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly context: ControllerContext,
    /** One object of the resource is gone from the namespace. */
    private readonly onGone: (resource: CountedResource, namespace: string) => void,
  ) {}

  /** Undefined when the server serves no such resource in namespaces. */
  async find(resource: CountedResource): Promise<DiscoveredResource | undefined> {
    const name = countName(resource);
    if (!this.known.has(name)) await this.discover();
    return this.known.get(name);
  }

  /** It was served and is not any more. */
  forget(resource: CountedResource): void {
    const name = countName(resource);
    this.known.delete(name);
    this.monitors.get(name)?.stop(false);
    this.monitors.delete(name);
  }

  /** Follows these and no others. */
  async follow(wanted: readonly CountedResource[]): Promise<void> {
    const names = new Set(wanted.map(countName));
    for (const [name, monitor] of this.monitors) {
      if (names.has(name)) continue;
      monitor.stop(false);
      this.monitors.delete(name);
    }
    for (const resource of wanted) {
      const name = countName(resource);
      if (this.monitors.has(name)) continue;
      const found = await this.find(resource);
      if (!found?.verbs.includes('watch') || this.monitors.has(name)) continue;
      const monitor = this.monitorOf(resource, found);
      this.monitors.set(name, monitor);
      monitor.start();
    }
  }

  stop(): void {
    for (const monitor of this.monitors.values()) monitor.stop(false);
    this.monitors.clear();
  }

  private monitorOf(resource: CountedResource, found: DiscoveredResource): ResourceMonitor {
    const namespaces = new Map<string, string>();
    return new ResourceMonitor(this.context, found, {
      observe: ({ uid, namespace }) => namespaces.set(uid, namespace),
      remove: (uid) => {
        const namespace = namespaces.get(uid);
        if (namespace === undefined) return;
        namespaces.delete(uid);
        this.onGone(resource, namespace);
      },
    });
  }

  private async discover(): Promise<void> {
    const { client, clock } = this.context;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.discoveredMs < discoveryPeriodMs) return;
    this.discoveredMs = nowMs;
    const { resources } = await client.discover();
    for (const resource of resources) {
      if (!resource.namespaced || !resource.verbs.includes('list')) continue;
      const name = countName({
        group: dialect().group(resource.group),
        resource: resource.plural,
      });
      if (resource.preferred || !this.known.has(name)) this.known.set(name, resource);
    }
  }
}
