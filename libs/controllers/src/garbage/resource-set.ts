/**
 * The resources that are watched for owners and dependents: everything that can be listed, watched and
 * deleted, as discovery tells it, kept up as resources come and go.
 */
import type { DiscoveredResource } from '@orch/client';
import { dialect } from '@orch/component';
import type { ControllerContext } from '../manager/controller.js';
import { type MonitorSink, ResourceMonitor } from './resource-monitor.js';

/** Events own nothing, are owned by nothing and come in great numbers. */
const ignoredPlurals: ReadonlySet<string> = new Set(['core/events', 'events/events']);
const neededVerbs = ['list', 'watch', 'delete'] as const;

export class ResourceSet {
  private readonly monitors = new Map<string, ResourceMonitor>();
  private readonly byKind = new Map<string, DiscoveredResource>();

  constructor(
    private readonly context: ControllerContext,
    private readonly sink: MonitorSink,
  ) {}

  /** Whether every watched resource has been listed. */
  hasSynced(): boolean {
    return this.monitors.size > 0 && [...this.monitors.values()].every((one) => one.hasSynced());
  }

  /** The resource behind an owner reference; undefined when the server serves no such kind. */
  resourceOf(apiVersion: string, kind: string): DiscoveredResource | undefined {
    return this.byKind.get(`${apiVersion}/${kind}`);
  }

  /** Asks what is served and starts and stops monitors accordingly. */
  async refresh(): Promise<void> {
    const { resources, failedGroups } = await this.context.client.discover();
    if (failedGroups.length === 0) this.byKind.clear();
    for (const resource of resources) {
      const { group, version, kind } = resource;
      this.byKind.set(`${dialect().apiVersion(group, version)}/${kind}`, resource);
    }
    const wanted = monitored(resources);
    for (const [key, resource] of wanted) {
      if (this.monitors.has(key)) continue;
      const monitor = new ResourceMonitor(this.context, resource, this.sink);
      this.monitors.set(key, monitor);
      monitor.start();
    }
    // What a group that did not answer serves is not known: its monitors stay.
    if (failedGroups.length > 0) return;
    for (const [key, monitor] of this.monitors) {
      if (wanted.has(key)) continue;
      this.monitors.delete(key);
      monitor.stop(true);
    }
  }

  stop(): void {
    for (const monitor of this.monitors.values()) monitor.stop(false);
  }
}

/** Each resource once, in its group's preferred version where that serves it. */
function monitored(resources: readonly DiscoveredResource[]): Map<string, DiscoveredResource> {
  const wanted = new Map<string, DiscoveredResource>();
  for (const resource of resources) {
    const key = `${resource.group}/${resource.plural}`;
    if (ignoredPlurals.has(key)) continue;
    if (!neededVerbs.every((verb) => resource.verbs.includes(verb))) continue;
    if (resource.preferred || !wanted.has(key)) wanted.set(key, resource);
  }
  return wanted;
}
