/**
 * The registered API services of this replica: follows the store, so that a registration takes
 * effect on every replica without a restart. Finds the aggregated server of a group version.
 */
import { isCustomApiService, isLocalAtStart } from '@orch/api';
import { dialect, type Metrics } from '@orch/component';
import { objectOf, type PrefixObserver, type ResourceTable } from '@orch/registry';
import type { Entry, WatchEvent } from '@orch/store';
import type { APIService } from '@orch/types/apiregistration/v1';
import type { RequestContext } from '../http/request-context.js';
import { AggregatedServer, type AggregatedServerDependencies } from './aggregated-server.js';
import { AggregationMetrics } from './aggregation-metrics.js';
import { forwardToServer, sendServiceUnavailable } from './forward-to-server.js';

export interface AggregatedApisDependencies extends AggregatedServerDependencies {
  readonly table: ResourceTable;
  readonly metrics: Metrics;
}

/** Handles the requests for one group version. */
export type AggregatedHandler = (context: RequestContext) => Promise<void>;

interface Registration {
  readonly object: APIService;
  /** Undefined: served by this server, or not at all. */
  readonly server: AggregatedServer | undefined;
  /** Whether this server registers the version itself, while it serves it. */
  readonly isManaged: boolean;
  readonly handle: AggregatedHandler;
}

export class AggregatedApis implements PrefixObserver {
  /** Changes with every registration. */
  revision = 0;
  /** Whether the registrations that this replica had at its start are in use. */
  isSynced = false;
  private readonly byGroup = new Map<string, Map<string, Registration>>();
  private readonly byKey = new Map<string, Registration>();
  private readonly listeners: (() => void)[] = [];

  private readonly metrics: AggregationMetrics;

  constructor(private readonly dependencies: AggregatedApisDependencies) {
    const all = () => [...this.byKey.values()].map(({ object }) => object);
    this.metrics = new AggregationMetrics(dependencies.metrics, all);
  }

  /** The handler of a group version that another server serves; undefined: this server does. */
  handlerOf(group: string, version: string): AggregatedHandler | undefined {
    const found = this.byGroup.get(group)?.get(version);
    if (!found) return undefined;
    const isServedHere =
      !found.server &&
      (found.isManaged || this.dependencies.table.inGroupVersion(group, version).length > 0);
    return isServedHere ? undefined : found.handle;
  }

  /** Every registration of a version that this server does not register itself. */
  get registered(): readonly APIService[] {
    return [...this.byKey.values()]
      .filter(({ server, isManaged }) => server !== undefined || !isManaged)
      .map(({ object }) => object);
  }

  /** The registration of a group version. */
  find(group: string, version: string): APIService | undefined {
    return this.byGroup.get(group)?.get(version)?.object;
  }

  get servers(): readonly AggregatedServer[] {
    return [...this.byKey.values()].flatMap(({ server }) => server ?? []);
  }

  serverOf(group: string, version: string): AggregatedServer | undefined {
    return this.byGroup.get(group)?.get(version)?.server;
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Uses a new front-proxy certificate for all further connections. */
  certificateChanged(): void {
    for (const server of this.servers) server.reconnect();
  }

  stop(): void {
    for (const server of this.servers) server.reconnect();
  }

  replaced(entries: readonly Entry[]): void {
    const present = new Set(entries.map(({ key }) => key));
    for (const key of [...this.byKey.keys()]) if (!present.has(key)) this.delete(key);
    for (const entry of entries) this.set(entry);
    this.isSynced = true;
    this.changedNow();
  }

  changed(events: readonly WatchEvent[]): void {
    for (const { kind, key, entry } of events) {
      if (kind === 'put') this.set(entry);
      else this.delete(key);
    }
    this.changedNow();
  }

  private set(entry: Entry): void {
    const object = objectOf<APIService>(entry);
    const last = this.byKey.get(entry.key);
    this.metrics.changed(last?.object, object);
    const before = last?.server;
    const keeps = before?.update(object) ?? false;
    if (!keeps) before?.reconnect();
    const server = keeps ? before : this.newServer(object);
    const registration: Registration = {
      object,
      server,
      isManaged: isLocalAtStart(object) || isCustomApiService(object),
      handle: server
        ? (context) => forwardToServer(context, server)
        : async (context) => sendServiceUnavailable(context),
    };
    const { group = '', version = '' } = object.spec ?? {};
    this.byKey.set(entry.key, registration);
    const versions = this.byGroup.get(group);
    if (versions) versions.set(version, registration);
    else this.byGroup.set(group, new Map([[version, registration]]));
  }

  /** This server always serves the group of API services, so that they can be repaired. */
  private newServer(object: APIService): AggregatedServer | undefined {
    const { group, service } = object.spec ?? {};
    if (!service || group === dialect().group('apiregistration')) return undefined;
    return new AggregatedServer(object, this.dependencies);
  }

  private delete(key: string): void {
    const registration = this.byKey.get(key);
    if (!registration) return;
    registration.server?.reconnect();
    this.byKey.delete(key);
    const { group = '', version = '' } = registration.object.spec ?? {};
    const versions = this.byGroup.get(group);
    versions?.delete(version);
    if (versions?.size === 0) this.byGroup.delete(group);
  }

  private changedNow(): void {
    this.revision += 1;
    for (const listener of this.listeners) listener();
  }
}
