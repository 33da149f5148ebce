/**
 * Serves the addresses and node ports of services on this machine and forwards them to ready endpoints.
 * Level-based: each change of a service or its endpoints brings its ports to what both say now. What
 * fails is tried again with back-off while everything else goes on.
 */
import { Informer, objectKey, type RestClient, resources, WorkQueue } from '@orch/client';
import { type Clock, dialect, type Logger, type Metrics } from '@orch/component';
import type { Endpoints, Node, Service } from '@orch/types/core/v1';
import { ServiceAddresses } from './addresses/service-addresses.js';
import { EndpointPicker } from './balancing/endpoint-picker.js';
import type { Forwarder, ForwarderSettings } from './forwarding/forwarder.js';
import { ProxyMetrics } from './forwarding/proxy-metrics.js';
import { TcpForwarder } from './forwarding/tcp-forwarder.js';
import { UdpForwarder } from './forwarding/udp-forwarder.js';
import { informerSyncTimeoutMs, syncWorkerCount } from './limits.js';
import type { ProxyOptions } from './proxy-options.js';
import { type PortRule, portRules } from './rules/port-rules.js';

export interface ServiceProxyParts {
  /** Services are not served (any more); must end the process. */
  readonly onFailed: (error: unknown) => void;
  readonly options: ProxyOptions;
  readonly client: RestClient;
  /** Tells this proxy from others on the machine, such as the path of its kubeconfig. */
  readonly owner: string;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** One port of one service, with a listener on the service's address and one on its node port. */
interface ServedPort {
  readonly rule: PortRule;
  readonly picker: EndpointPicker;
  readonly forwarders: Forwarder[];
  isComplete: boolean;
}

export class ServiceProxy {
  private readonly services: Informer<Service>;
  private readonly endpoints: Informer<Endpoints>;
  private readonly nodes: Informer<Node>;
  private readonly addresses: ServiceAddresses;
  private readonly metrics: ProxyMetrics;
  private readonly queue: WorkQueue;
  private readonly served = new Map<string, Map<string, ServedPort>>();
  /** No longer listening, with connections that go on. */
  private readonly draining = new Set<Forwarder>();
  private running: Promise<void> | undefined;
  private stopped = false;
  private isSynced = false;

  constructor(private readonly parts: ServiceProxyParts) {
    const { client, clock, logger, options, owner, metrics } = parts;
    const shared = { client, clock, logger };
    this.services = new Informer<Service>({ ...shared, resource: resources.services });
    this.endpoints = new Informer<Endpoints>({ ...shared, resource: resources.endpoints });
    this.nodes = new Informer<Node>({ ...shared, resource: resources.nodes });
    this.addresses = new ServiceAddresses(`${options.clusterName} ${owner}`, logger);
    this.metrics = new ProxyMetrics(metrics);
    this.queue = new WorkQueue({ name: 'services', clock, logger });
  }

  /** Whether services have been seen and served once. */
  get ready(): boolean {
    return this.isSynced;
  }

  /** Resolves before the API server has been reached. */
  async start(): Promise<void> {
    const { onFailed } = this.parts;
    await this.addresses.start();
    this.services.start();
    this.endpoints.start();
    this.nodes.start();
    this.serve().catch(onFailed);
  }

  /** Ends all connections; with `teardown` the addresses of services go too. */
  async stop({ teardown = this.parts.options.teardownOnStop } = {}): Promise<void> {
    this.stopped = true;
    this.queue.shutDown();
    await Promise.all([this.services.stop(), this.endpoints.stop(), this.nodes.stop()]);
    await this.running;
    for (const ports of this.served.values()) {
      for (const { forwarders } of ports.values()) for (const one of forwarders) one.destroy();
    }
    for (const one of this.draining) one.destroy();
    this.served.clear();
    if (teardown) await this.addresses.teardown();
  }

  private async serve(): Promise<void> {
    for (const informer of [this.services, this.endpoints, this.nodes]) {
      if (!(await this.synced(informer))) return;
    }
    const enqueue = (object: Service | Endpoints) => this.queue.add(objectKey(object));
    const handlers = { onAdd: enqueue, onUpdate: enqueue, onDelete: enqueue };
    this.services.addHandlers(handlers);
    this.endpoints.addHandlers(handlers);
    this.nodes.addHandlers({
      onAdd: (node) => this.nodeChanged(node, undefined),
      onUpdate: (node, old) => this.nodeChanged(node, old),
    });
    await this.releaseStale();
    this.isSynced = true;
    this.running = this.queue.run(syncWorkerCount, async (key) => {
      await this.sync(key);
      return undefined;
    });
  }

  /** Where a node's pods are reached may change when its agent is started in another way. */
  private nodeChanged(node: Node, old: Node | undefined): void {
    if (isLoopback(node) === isLoopback(old)) return;
    for (const key of this.services.lister.keys()) this.queue.add(key);
  }

  private async synced(
    informer: Informer<Service> | Informer<Endpoints> | Informer<Node>,
  ): Promise<boolean> {
    while (!this.stopped) {
      try {
        await informer.whenSynced(informerSyncTimeoutMs);
        return true;
      } catch (error) {
        if (!this.stopped) this.parts.logger.warn({ err: error }, 'waiting for the API server');
      }
    }
    return false;
  }

  /** Addresses from an earlier life whose services are gone. */
  private async releaseStale(): Promise<void> {
    const wanted = new Set(this.services.lister.list().map(({ spec }) => spec?.clusterIP));
    for (const address of this.addresses.addresses) {
      if (!wanted.has(address)) await this.addresses.release(address);
    }
  }

  /** Brings the ports of one service to what it and its endpoints say. Throws to be called again. */
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
      let port = ports.get(id);
      if (!port) {
        port = { rule, picker: new EndpointPicker(), forwarders: [], isComplete: false };
        ports.set(id, port);
      }
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
    await this.addresses.ensure(rule.clusterIp);
    if (forwarders.length === 0) {
      forwarders.push(await this.listen(key, port, rule.clusterIp, rule.port));
    }
    if (rule.nodePort !== undefined && forwarders.length === 1) {
      const { nodePortAddress } = this.parts.options;
      forwarders.push(await this.listen(key, port, nodePortAddress, rule.nodePort));
    }
    port.isComplete = true;
    const { clusterIp, protocol, nodePort } = rule;
    const fields = { service: key, clusterIp, port: rule.port, protocol, nodePort };
    this.parts.logger.info(fields, 'service port opened');
  }

  private async listen(
    key: string,
    { rule, picker }: ServedPort,
    address: string,
    portNumber: number,
  ): Promise<Forwarder> {
    const { clock, logger, options } = this.parts;
    const settings: ForwarderSettings = {
      address,
      port: portNumber,
      picker,
      name: `${key}:${rule.portName || rule.port}`,
      metrics: this.metrics,
      clock,
      logger,
      connectionCountMax: options.connectionsPerPortMax,
      udpIdleTimeoutMs: options.udpIdleTimeoutMs,
    };
    const forwarder =
      rule.protocol === 'TCP' ? new TcpForwarder(settings) : new UdpForwarder(settings);
    try {
      await forwarder.open();
    } catch (error) {
      forwarder.destroy();
      throw listenError(error, settings);
    }
    return forwarder;
  }

  /** While the service keeps its address, connections go on; without it they could not. */
  private async close({ rule, forwarders }: ServedPort): Promise<void> {
    const { clusterIp, port, protocol } = rule;
    const isShared = [...this.served.values()].some((ports) =>
      [...ports.values()].some((other) => other.rule.clusterIp === clusterIp),
    );
    for (const one of this.draining) if (one.connectionCount === 0) this.draining.delete(one);
    for (const forwarder of forwarders) {
      if (isShared) forwarder.close();
      else forwarder.destroy();
      if (forwarder.connectionCount > 0) this.draining.add(forwarder);
    }
    if (!isShared) await this.addresses.release(clusterIp);
    this.parts.logger.info({ clusterIp, port, protocol }, 'service port closed');
  }
}

/** Says what to do about a port that may not be had. */
function listenError(cause: unknown, { address, port, name }: ForwarderSettings): unknown {
  if (!(cause instanceof Error) || !('code' in cause) || cause.code !== 'EACCES') return cause;
  const message = `${name}: port ${port} of ${address} needs root, CAP_NET_BIND_SERVICE, or a service port that is not privileged`;
  return new Error(message, { cause });
}

/** Whether the node's agent has said that its pods listen on loopback addresses. */
function isLoopback(node: Node | undefined): boolean {
  return node?.metadata?.annotations?.[dialect().key('pod-addresses', 'node')] === 'loopback';
}

/** What a listener is bound to; another value is another listener. */
function ruleKey({ protocol, clusterIp, port, nodePort }: PortRule): string {
  return `${protocol} ${clusterIp} ${port} ${nodePort ?? 0}`;
}
