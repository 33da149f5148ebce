/**
 * Watches the resources that quotas count by number, and reports the deletion of their objects.
 * Discovery runs when a quota names a resource that is not known yet, at most once per period
 * unless what the server serves has changed.
 */
import { type CountedResource, countName } from '@orch/apimachinery';
import type { DiscoveredResource } from '@orch/client';
import { dialect } from '@orch/component';
import type { ControllerContext } from '../common/controller.js';
import { ResourceMonitor } from '../common/resource-monitor.js';

const discoveryPeriodMs = 300_000;

export class CountedMonitors {
  private readonly monitors = new Map<string, ResourceMonitor>();
  private readonly discovered = new Map<string, DiscoveredResource>();
  private discoveredMs = Number.NEGATIVE_INFINITY;
  private discovering: Promise<void> | undefined;
  private failedGroups: ReadonlySet<string> = new Set();

  constructor(
    private readonly context: ControllerContext,
    /** Receives the resource and namespace of each deleted object. */
    private readonly onDeleted: (resource: CountedResource, namespace: string) => void,
  ) {}

  /**
   * The served resource; undefined if the server has no such resource in namespaces. Rejects if its
   * group cannot be discovered now.
   */
  async find(resource: CountedResource): Promise<DiscoveredResource | undefined> {
    const name = countName(resource);
    if (!this.discovered.has(name)) await this.discover();
    const found = this.discovered.get(name);
    if (!found && this.failedGroups.has(resource.group)) {
      this.discoveredMs = Number.NEGATIVE_INFINITY;
      throw new Error(`the resources of the API group "${resource.group}" were not discovered`);
    }
    return found;
  }

  /** What the server serves may have changed: the next unknown resource is discovered. */
  servedResourcesChanged(): void {
    this.discoveredMs = Number.NEGATIVE_INFINITY;
  }

  isKnown(resource: CountedResource): boolean {
    return this.discovered.has(countName(resource));
  }

  /** Stops watching a resource that the server no longer serves. */
  forget(resource: CountedResource): void {
    const name = countName(resource);
    this.discovered.delete(name);
    this.monitors.get(name)?.stop();
    this.monitors.delete(name);
  }

  /** Watches exactly these resources. */
  async follow(counted: readonly CountedResource[]): Promise<void> {
    const names = new Set(counted.map(countName));
    for (const [name, monitor] of this.monitors) {
      if (names.has(name)) continue;
      monitor.stop();
      this.monitors.delete(name);
    }
    for (const resource of counted) {
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
    for (const monitor of this.monitors.values()) monitor.stop();
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
        this.onDeleted(resource, namespace);
      },
    });
  }

  /** Joins a discovery that runs already. Rejects if the server cannot be discovered now. */
  private async discover(): Promise<void> {
    const nowMs = this.context.clock.monotonicMs();
    if (!this.discovering && nowMs - this.discoveredMs < discoveryPeriodMs) return;
    this.discovering ??= this.readResources().finally(() => {
      this.discovering = undefined;
    });
    await this.discovering;
  }

  private async readResources(): Promise<void> {
    const { client, clock } = this.context;
    const { resources, failedGroups } = await client.discover();
    this.discoveredMs = clock.monotonicMs();
    this.failedGroups = new Set(failedGroups.map((one) => one.slice(0, one.lastIndexOf('/'))));
    for (const resource of resources) {
      if (!resource.namespaced || !resource.verbs.includes('list')) continue;
      const name = countName({
        group: dialect().group(resource.group),
        resource: resource.plural,
      });
      if (resource.preferred || !this.discovered.has(name)) this.discovered.set(name, resource);
    }
  }
}
