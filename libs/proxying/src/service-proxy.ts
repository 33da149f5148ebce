/**
 * Serves the addresses and node ports of services on this machine and forwards connections to ready
 * endpoints. Level-based: each change of a service or its endpoints reconciles the ports of the
 * service. Failures are retried with back-off and do not affect other services.
 */
import { type ApiClient, Informer, objectKey, resources, WorkQueue } from '@orch/client';
import { type Clock, dialect, type Logger, type Metrics } from '@orch/component';
import type { Endpoints, Node, Service } from '@orch/types/core/v1';
import { ServiceAddresses } from './addresses/service-addresses.js';
import { EndpointPicker } from './balancing/endpoint-picker.js';
import type { Forwarder, ForwarderDependencies } from './forwarding/forwarder.js';
import { ProxyMetrics } from './forwarding/proxy-metrics.js';
import { TcpForwarder } from './forwarding/tcp-forwarder.js';
import { UdpForwarder } from './forwarding/udp-forwarder.js';
import { informerSyncTimeoutMs, routeCheckPeriodMs, syncWorkerCount } from './limits.js';
import type { ProxyOptions } from './proxy-options.js';
import { PodRoutes } from './routes/pod-routes.js';
import { type PortRule, portRules } from './rules/port-rules.js';
import { type SourceFilter, sourceFilter } from './rules/source-filter.js';

export interface ServiceProxyDependencies {
  /** Called when services can no longer be served; must end the process. */
  readonly onFailed: (error: unknown) => void;
  readonly options: ProxyOptions;
  readonly client: ApiClient;
  /** Identifies this proxy on the machine, such as the path of its kubeconfig. */
  readonly owner: string;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A port of an address, with a forwarder for the address and one for the node port. */
interface ServedPort {
  readonly rule: PortRule;
  readonly picker: EndpointPicker;
  /** Replaced without closing the port when the permitted clients change. */
  accepts: SourceFilter;
  readonly forwarders: Forwarder[];
  isComplete: boolean;
}

/** The key of the routes in the queue; keys of services contain a slash. */
const routesKey = 'pod-routes';

export class ServiceProxy {
  private readonly services: Informer<Service>;
  private readonly endpoints: Informer<Endpoints>;
  private readonly nodes: Informer<Node>;
  private readonly addresses: ServiceAddresses;
  private readonly routes: PodRoutes | undefined;
  private readonly metrics: ProxyMetrics;
  private readonly queue: WorkQueue;
  private readonly served = new Map<string, Map<string, ServedPort>>();
  /** Forwarders that no longer listen but have open connections. */
  private readonly draining = new Set<Forwarder>();
  private running: Promise<void> | undefined;
  private stopped = false;
  private isSynced = false;

  constructor(private readonly dependencies: ServiceProxyDependencies) {
    const { client, clock, logger, options, owner, metrics } = dependencies;
    const shared = { client, clock, logger };
    this.services = new Informer<Service>({ ...shared, resource: resources.services });
    this.endpoints = new Informer<Endpoints>({ ...shared, resource: resources.endpoints });
    this.nodes = new Informer<Node>({ ...shared, resource: resources.nodes });
    const identity = `${options.clusterName} ${owner}`;
    this.addresses = new ServiceAddresses(identity, logger);
    if (options.podRouteRange !== '') this.routes = new PodRoutes(identity, options, logger);
    this.metrics = new ProxyMetrics(metrics);
    this.queue = new WorkQueue({ name: 'services', clock, logger });
  }

  /** Whether the services are synced. */
  get ready(): boolean {
    return this.isSynced;
  }

  /** Starts the proxy. Resolves before the API server is reachable. */
  async start(): Promise<void> {
    const { onFailed } = this.dependencies;
    await this.addresses.start();
    this.services.start();
    this.endpoints.start();
    this.nodes.start();
    this.serve().catch(onFailed);
  }

  /** Closes all connections; with `teardown`, also removes the service addresses. */
  async stop({ teardown = this.dependencies.options.teardownOnStop } = {}): Promise<void> {
    this.stopped = true;
    this.queue.shutDown();
    await Promise.all([this.services.stop(), this.endpoints.stop(), this.nodes.stop()]);
    await this.running;
    for (const ports of this.served.values()) {
      for (const { forwarders } of ports.values()) {
        for (const forwarder of forwarders) forwarder.destroy();
      }
    }
    for (const forwarder of this.draining) forwarder.destroy();
    this.served.clear();
    if (!teardown) return;
    await this.addresses.teardown();
    await this.routes?.teardown();
  }

  private async serve(): Promise<void> {
    for (const informer of [this.services, this.endpoints, this.nodes]) {
      if (!(await this.waitForSync(informer))) return;
    }
    const enqueue = (object: Service | Endpoints) => this.queue.add(objectKey(object));
    const handlers = { onAdd: enqueue, onUpdate: enqueue, onDelete: enqueue };
    this.services.addHandlers(handlers);
    this.endpoints.addHandlers(handlers);
    this.nodes.addHandlers({
      onAdd: (node) => this.nodeChanged(node, undefined),
      onUpdate: (node, old) => this.nodeChanged(node, old),
      onDelete: () => this.routesChanged(),
    });
    this.routesChanged();
    await this.releaseStale();
    this.isSynced = true;
    this.running = this.queue.run(syncWorkerCount, async (key) => {
      if (key !== routesKey) {
        await this.sync(key);
        return undefined;
      }
      await this.routes?.sync(this.nodes.lister.list());
      return routeCheckPeriodMs;
    });
  }

  private routesChanged(): void {
    if (this.routes) this.queue.add(routesKey);
  }

  /** Syncs all services when the pods of a node start or stop listening on loopback addresses. */
  private nodeChanged(node: Node, old: Node | undefined): void {
    if (this.routes?.areChanged(node, old)) this.routesChanged();
    if (isLoopback(node) === isLoopback(old)) return;
    for (const key of this.services.lister.keys()) this.queue.add(key);
  }

  /** Resolves with true when the informer is synced, with false when the proxy stops. */
  private async waitForSync(
    informer: Informer<Service> | Informer<Endpoints> | Informer<Node>,
  ): Promise<boolean> {
    while (!this.stopped) {
      try {
        await informer.whenSynced(informerSyncTimeoutMs);
        return true;
      } catch (error) {
        if (!this.stopped)
          this.dependencies.logger.warn({ err: error }, 'waiting for the API server');
      }
    }
    return false;
  }

  /** Releases addresses of a previous process whose services no longer exist. */
  private async releaseStale(): Promise<void> {
    const services = this.services.lister.list();
    const rules = services.flatMap((service) => portRules(service, undefined, () => false));
    const wanted = new Set(rules.map(({ address }) => address));
    for (const address of this.addresses.addresses) {
      if (!wanted.has(address)) await this.addresses.release(address);
    }
  }

  /** Reconciles the ports of one service. Throws the first error, so that the queue retries. */
  private async sync(key: string): Promise<void> {
    const rules = portRules(
      this.services.lister.get(key),
      this.endpoints.lister.get(key),
      (nodeName) => isLoopback(this.nodes.lister.get(nodeName)),
    );
    const ports = this.served.get(key) ?? new Map<string, ServedPort>();
    this.served.set(key, ports);
    const wanted = new Map(rules.map((rule) => [ruleKey(rule), rule]));
    for (const [id, port] of ports) {
      if (wanted.has(id)) continue;
      ports.delete(id);
      await this.close(port);
    }
    const failures: unknown[] = [];
    for (const [id, rule] of wanted) {
      const accepts = sourceFilter(rule.sourceRanges);
      let port = ports.get(id);
      if (!port) {
        port = { rule, picker: new EndpointPicker(), accepts, forwarders: [], isComplete: false };
        ports.set(id, port);
      }
      port.accepts = accepts;
      port.picker.update(rule.endpoints, rule.affinityTimeoutMs);
      for (const forwarder of port.forwarders) forwarder.endpointsChanged();
      if (port.isComplete) continue;
      try {
        await this.open(key, port);
      } catch (error) {
        failures.push(error);
      }
    }
    if (ports.size === 0) this.served.delete(key);
    if (failures.length > 0) {
      this.metrics.syncFailures.inc();
      throw failures[0];
    }
  }

  private async open(key: string, port: ServedPort): Promise<void> {
    const { rule, forwarders } = port;
    await this.addresses.ensure(rule.address);
    if (forwarders.length === 0) {
      forwarders.push(await this.listen(key, port, rule.address, rule.port));
    }
    if (rule.nodePort !== undefined && forwarders.length === 1) {
      const { nodePortAddress } = this.dependencies.options;
      forwarders.push(await this.listen(key, port, nodePortAddress, rule.nodePort));
    }
    port.isComplete = true;
    const { address, protocol, nodePort } = rule;
    const fields = { service: key, address, port: rule.port, protocol, nodePort };
    this.dependencies.logger.info(fields, 'service port opened');
  }

  private async listen(
    key: string,
    served: ServedPort,
    address: string,
    portNumber: number,
  ): Promise<Forwarder> {
    const { clock, logger, options } = this.dependencies;
    const { rule, picker } = served;
    const dependencies: ForwarderDependencies = {
      address,
      port: portNumber,
      picker,
      accepts: (client) => served.accepts(client),
      name: `${key}:${rule.portName || rule.port}`,
      metrics: this.metrics,
      clock,
      logger,
      connectionCountMax: options.connectionsPerPortMax,
      udpIdleTimeoutMs: options.udpIdleTimeoutMs,
    };
    const forwarder =
      rule.protocol === 'TCP' ? new TcpForwarder(dependencies) : new UdpForwarder(dependencies);
    try {
      await forwarder.open();
    } catch (error) {
      forwarder.destroy();
      throw listenError(error, dependencies);
    }
    return forwarder;
  }

  /**
   * Closes a port. Connections continue if another port still uses the address; otherwise they are
   * closed.
   */
  private async close({ rule, forwarders }: ServedPort): Promise<void> {
    const { address, port, protocol } = rule;
    const isShared = [...this.served.values()].some((ports) =>
      [...ports.values()].some((other) => other.rule.address === address),
    );
    for (const forwarder of this.draining) {
      if (forwarder.connectionCount === 0) this.draining.delete(forwarder);
    }
    for (const forwarder of forwarders) {
      if (isShared) forwarder.close();
      else forwarder.destroy();
      if (forwarder.connectionCount > 0) this.draining.add(forwarder);
    }
    if (!isShared) await this.addresses.release(address);
    this.dependencies.logger.info({ address, port, protocol }, 'service port closed');
  }
}

/** Adds the remedy to an error for a privileged port. */
function listenError(cause: unknown, { address, port, name }: ForwarderDependencies): unknown {
  if (!(cause instanceof Error) || !('code' in cause) || cause.code !== 'EACCES') return cause;
  const message = `${name}: port ${port} of ${address} requires root or CAP_NET_BIND_SERVICE; otherwise use an unprivileged service port`;
  return new Error(message, { cause });
}

/** Whether the pods of the node listen on loopback addresses. */
function isLoopback(node: Node | undefined): boolean {
  return node?.metadata?.annotations?.[dialect().key('pod-addresses', 'node')] === 'loopback';
}

/** Returns the key of a rule; a rule with another key needs other listeners. */
function ruleKey({ protocol, address, port, nodePort }: PortRule): string {
  return `${protocol} ${address} ${port} ${nodePort ?? 0}`;
}
