/**
 * The resources whose objects are watched for owners and dependents: all that discovery reports
 * with the verbs list, watch and delete. Monitors start and stop as resources appear and disappear.
 * An aggregated API server that is down delays nothing but the objects of its own group.
 */
import type { DiscoveredResource } from '@orch/client';
import { dialect } from '@orch/component';
import type { ControllerContext } from '../common/controller.js';
import { type MonitorSink, ResourceMonitor } from '../common/resource-monitor.js';
import { limits } from '../limits.js';

/** Events have neither owners nor dependents, and there are many. */
const ignoredPlurals: ReadonlySet<string> = new Set(['core/events', 'events/events']);
const requiredVerbs = ['list', 'watch', 'delete'] as const;

export class ResourceSet {
  private readonly monitors = new Map<string, ResourceMonitor>();
  /** Monitors of other servers that have not listed their objects in time. */
  private readonly overdue = new Set<ResourceMonitor>();
  private readonly byKind = new Map<string, DiscoveredResource>();
  private readonly sink: MonitorSink;
  private waiters: (() => void)[] = [];

  constructor(
    private readonly context: ControllerContext,
    sink: MonitorSink,
  ) {
    this.sink = {
      observe: (object) => sink.observe(object),
      remove: (uid) => sink.remove(uid),
      synced: () => this.wakeWaiters(),
    };
  }

  /** Resolves when every watched resource has been listed, or when `signal` aborts. */
  async whenSynced(signal: AbortSignal): Promise<void> {
    while (!this.hasSynced() && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const wake = () => {
          signal.removeEventListener('abort', wake);
          resolve();
        };
        this.waiters.push(wake);
        signal.addEventListener('abort', wake, { once: true });
      });
    }
  }

  /** The resource of an owner reference; undefined if the server does not serve the kind. */
  resourceOf(apiVersion: string, kind: string): DiscoveredResource | undefined {
    return this.byKind.get(`${apiVersion}/${kind}`);
  }

  /**
   * Discovers the served resources and starts and stops monitors accordingly. Returns whether every
   * group was discovered.
   */
  async refresh(): Promise<boolean> {
    const { resources, failedGroups } = await this.context.client.discover();
    if (failedGroups.length === 0) this.byKind.clear();
    for (const resource of resources) {
      const { group, version, kind } = resource;
      this.byKind.set(`${dialect().apiVersion(group, version)}/${kind}`, resource);
    }
    const monitored = monitoredResources(resources);
    for (const [key, resource] of monitored) {
      if (this.monitors.has(key)) continue;
      const monitor = new ResourceMonitor(this.context, resource, this.sink);
      this.monitors.set(key, monitor);
      monitor.start();
      if (isForeign(resource)) this.limitWait(monitor);
    }
    const failed = new Set(failedGroups.map((name) => name.slice(0, name.lastIndexOf('/'))));
    for (const [key, monitor] of this.monitors) {
      // The resources of a group that failed are unknown.
      if (monitored.has(key) || failed.has(dialect().group(monitor.resource.group))) continue;
      this.monitors.delete(key);
      this.overdue.delete(monitor);
      monitor.stop();
      monitor.removeAll();
    }
    this.wakeWaiters();
    return failedGroups.length === 0;
  }

  stop(): void {
    for (const monitor of this.monitors.values()) monitor.stop();
  }

  private hasSynced(): boolean {
    const monitors = [...this.monitors.values()];
    const isReady = (monitor: ResourceMonitor) => monitor.hasSynced() || this.overdue.has(monitor);
    return monitors.length > 0 && monitors.every(isReady);
  }

  private limitWait(monitor: ResourceMonitor): void {
    this.context.clock.setTimer(limits.foreignSyncTimeoutMs, () => {
      if (monitor.hasSynced() || !this.monitors.has(keyOf(monitor.resource))) return;
      this.overdue.add(monitor);
      this.wakeWaiters();
    });
  }

  private wakeWaiters(): void {
    if (!this.hasSynced()) return;
    const { waiters } = this;
    this.waiters = [];
    for (const wake of waiters) wake();
  }
}

function keyOf({ group, plural }: DiscoveredResource): string {
  return `${group}/${plural}`;
}

/** Whether another server may serve the resource: custom and aggregated groups are domains. */
function isForeign({ group }: DiscoveredResource): boolean {
  return group.includes('.') && dialect().group(group) === group;
}

/** Each resource once, in the preferred version of its group if that version serves it. */
function monitoredResources(
  resources: readonly DiscoveredResource[],
): Map<string, DiscoveredResource> {
  const monitored = new Map<string, DiscoveredResource>();
  for (const resource of resources) {
    const key = keyOf(resource);
    if (ignoredPlurals.has(key)) continue;
    if (!requiredVerbs.every((verb) => resource.verbs.includes(verb))) continue;
    if (resource.preferred || !monitored.has(key)) monitored.set(key, resource);
  }
  return monitored;
}
