/**
 * The agent of one node: runs the pods that the API has bound to the node through a container
 * runtime, and reports the status of the pods and of the node. All state is on disk, in the runtime
 * and in the API, so the agent can be killed at any time.
 */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type ApiClient, EventRecorder, Informer, resources } from '@orch/client';
import {
  type Clock,
  type HealthChecks,
  hostAddress,
  type Logger,
  type Metrics,
} from '@orch/component';
import type { Node, NodeStatus, Pod, Service } from '@orch/types/core/v1';
import type { CertificateManager } from './certificates/certificate-manager.js';
import { servingCertificateManager } from './certificates/serving-certificate.js';
import { TokenManager } from './environment/account-tokens.js';
import { ClaimObjects } from './environment/claim-objects.js';
import { quantityValue } from './environment/quantity.js';
import { WatchedObjects } from './environment/watched-objects.js';
import { informerSyncTimeoutMs } from './limits.js';
import { type NodeAgentOptions, nodeNameOf } from './node-agent-options.js';
import { LogRotator } from './pods/log-rotator.js';
import { type PodContext, podReference } from './pods/pod-context.js';
import { PodWorkers } from './pods/pod-workers.js';
import { RestartBackoff } from './pods/restart-backoff.js';
import { runHandler } from './probes/handlers.js';
import { Prober } from './probes/prober.js';
import { type MachineInfo, machineInfo } from './registration/machine-info.js';
import { NodeRegistration } from './registration/node-registration.js';
import { nodeLabels, nodeStatus, podAddressAnnotation } from './registration/node-status.js';
import { PressureMonitor } from './registration/pressure-monitor.js';
import type { ContainerRuntime, RuntimeInfo } from './runtimes/container-runtime.js';
import { type AgentServer, startAgentServer } from './server/agent-server.js';
import { StatsSampler } from './stats/stats-sampler.js';
import { StatusManager } from './status/status-manager.js';

export interface NodeAgentDependencies {
  /** Called when the agent can no longer run pods; must end the process. */
  readonly onFailed: (error: unknown) => void;
  readonly options: NodeAgentOptions;
  /** The IPv4 network of the node's pods, configured or assigned. */
  readonly podCidr: string;
  /** Directory of a requested serving certificate; undefined if none is requested. */
  readonly requestedCertificates?: string;
  readonly client: ApiClient;
  readonly runtime: ContainerRuntime;
  readonly health: HealthChecks;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/**
 * Returns `--node-ip`, else the listen address of the server, else the first address of the host.
 */
function nodeIpOf({ nodeIp, address }: NodeAgentOptions): string {
  const listensAnywhere = address === '' || address === '0.0.0.0' || address === '::';
  return nodeIp || (listensAnywhere ? hostAddress() : address);
}

export class NodeAgent {
  readonly nodeName: string;
  private readonly rootDirectory: string;
  private readonly machine: MachineInfo;
  private readonly hostIp: string;
  private readonly pressure: PressureMonitor;
  private readonly pods: Informer<Pod>;
  private readonly services: Informer<Service>;
  private readonly recorder: EventRecorder;
  private readonly statuses: StatusManager;
  private readonly objects: WatchedObjects;
  private readonly prober: Prober;
  private readonly logRotator: LogRotator;
  private readonly stats: StatsSampler;
  private workers: PodWorkers | undefined;
  private registration: NodeRegistration | undefined;
  private server: AgentServer | undefined;
  private servingCertificate: CertificateManager | undefined;
  private readonly unsubscribe: (() => void)[] = [];
  private stopped = false;

  constructor(private readonly dependencies: NodeAgentDependencies) {
    const { options, client, runtime, metrics, clock, logger } = dependencies;
    this.nodeName = nodeNameOf(options);
    this.rootDirectory = resolve(options.rootDirectory);
    for (const name of ['pods', 'logs']) {
      mkdirSync(join(this.rootDirectory, name), { recursive: true, mode: 0o755 });
    }
    this.machine = machineInfo(this.rootDirectory);
    this.hostIp = nodeIpOf(options);
    this.pressure = new PressureMonitor({
      evictionHard: options.evictionHard,
      transitionPeriodMs: options.evictionPressureTransitionMs,
      machine: this.machine,
      directory: this.rootDirectory,
    });
    this.recorder = new EventRecorder({
      client,
      component: 'kubelet',
      host: this.nodeName,
      logger,
      clock,
    });
    this.statuses = new StatusManager({ client, clock, logger });
    this.objects = new WatchedObjects({ client, clock, logger });
    this.prober = this.createProber();
    const rotation = {
      fileBytesMax: options.containerLogMaxBytes,
      fileCountMax: options.containerLogMaxFiles,
    };
    this.logRotator = new LogRotator({ runtime, metrics, rotation, clock, logger });
    this.stats = new StatsSampler({ runtime, clock, logger });
    const fieldSelector = `spec.nodeName=${this.nodeName}`;
    const shared = { client, clock, logger };
    this.pods = new Informer<Pod>({ ...shared, resource: resources.pods, fieldSelector });
    this.services = new Informer<Service>({ ...shared, resource: resources.services });
  }

  /** The port of the agent's server; 0 without a server. */
  get port(): number {
    return this.server?.port ?? 0;
  }

  /**
   * Recovers running pods, registers the node and begins to run pods. Resolves before the API
   * server is reachable: requests are retried until they succeed.
   */
  async start(): Promise<void> {
    const { runtime, options, client, random, health, metrics, logger, onFailed } =
      this.dependencies;
    await runtime.start();
    const info = await runtime.info();
    const workers = new PodWorkers({ context: this.podContext(info), client, random });
    this.workers = workers;
    this.unsubscribe.push(runtime.onContainerChanged((_id, pod) => workers.sync(pod.uid)));
    metrics.gauge({
      name: 'kubelet_running_pods',
      help: 'Pods that this agent manages',
      collect: (gauge) => gauge.set(workers.podCount),
    });
    health.add({ name: 'syncloop', run: () => workers.checkSyncs() });
    if (options.enableServer) {
      this.stats.start();
      const postReview = async (path: string, body: object) =>
        (await client.request('POST', path, { body })).json<unknown>();
      this.server = await startAgentServer({
        ...this.dependencies,
        nodeName: this.nodeName,
        workers,
        machine: this.machine,
        stats: this.stats,
        prober: this.prober,
        postReview,
      });
      this.requestServingCertificate(this.server);
    }
    this.registration = this.createRegistration(info);
    this.registration.start();
    this.services.start();
    this.pods.start();
    this.followPods(workers).catch(onFailed);
    this.logRotator.start();
    const { nodeName, hostIp, port } = this;
    logger.info(
      { node: nodeName, address: hostIp, port, runtime: info.name },
      'node agent started',
    );
  }

  /**
   * Stops managing the pods, which continue to run; with `teardown`, ends them and removes their
   * network.
   */
  async stop({ teardown = this.dependencies.options.teardownOnStop } = {}): Promise<void> {
    this.stopped = true;
    this.logRotator.stop();
    this.stats.stop();
    for (const end of this.unsubscribe) end();
    this.registration?.stop();
    await this.servingCertificate?.stop();
    await this.server?.stop();
    await Promise.all([this.pods.stop(), this.services.stop()]);
    this.prober.stop();
    await this.workers?.stop();
    await Promise.all([this.statuses.stop(), this.objects.stop(), this.recorder.stop()]);
    await this.dependencies.runtime.stop({ teardown });
  }

  private requestServingCertificate({ tls }: AgentServer): void {
    const { requestedCertificates: directory } = this.dependencies;
    if (directory === undefined) return;
    this.servingCertificate = servingCertificateManager({
      ...this.dependencies,
      nodeName: this.nodeName,
      address: this.hostIp,
      directory,
      present: (pair) => tls.present(pair),
    });
    this.servingCertificate.start();
  }

  /** Starts pods after services are synced, and removes leftovers after pods are synced. */
  private async followPods(workers: PodWorkers): Promise<void> {
    if (!(await this.waitForSync(this.services, 'services'))) return;
    const remove = this.pods.addHandlers({
      onAdd: (pod) => workers.update(pod),
      onUpdate: (pod) => workers.update(pod),
      onDelete: (pod) => workers.remove(pod),
    });
    this.unsubscribe.push(remove);
    if (await this.waitForSync(this.pods, 'pods')) await workers.reclaim();
  }

  /** Resolves with true when the informer is synced, with false when the agent stops. */
  private async waitForSync(
    informer: Informer<Pod> | Informer<Service>,
    what: string,
  ): Promise<boolean> {
    while (!this.stopped) {
      try {
        await informer.whenSynced(informerSyncTimeoutMs);
        return true;
      } catch (error) {
        if (!this.stopped) {
          this.dependencies.logger.warn({ err: error, what }, 'waiting for the API server');
        }
      }
    }
    return false;
  }

  private podContext(info: RuntimeInfo): PodContext {
    const { runtime, client, clock, logger } = this.dependencies;
    const reserved = this.reserved();
    return {
      runtime,
      runtimeName: info.name,
      prober: this.prober,
      objects: this.objects,
      claims: new ClaimObjects(client, this.nodeName),
      accountTokens: new TokenManager({ client, clock, logger }),
      statuses: this.statuses,
      recorder: this.recorder,
      backoff: new RestartBackoff(),
      clock,
      logger,
      hostIp: this.hostIp,
      allocatable: {
        cpuCores: this.machine.cpuCores - reserved.cpuCores,
        memoryBytes: this.machine.memoryBytes - reserved.memoryBytes,
        ephemeralStorageBytes: this.machine.ephemeralStorageBytes,
      },
      podsDirectory: join(this.rootDirectory, 'pods'),
      logsDirectory: join(this.rootDirectory, 'logs'),
      services: () => this.services.lister.list(),
    };
  }

  private createProber(): Prober {
    const { runtime, clock, logger, random } = this.dependencies;
    return new Prober({
      clock,
      logger,
      random,
      run: ({ containerId, container, podIp }, probe, timeoutMs) =>
        runHandler(probe, { runtime, containerId, container, podIp }, timeoutMs),
      onFailure: ({ pod, container }, kind, output) => {
        const name = `${kind[0]!.toUpperCase()}${kind.slice(1)}`;
        const regarding = podReference(pod, container.name);
        const message = `${name} probe failed: ${output.slice(0, 1_024)}`;
        this.recorder.event(regarding, 'Warning', 'Unhealthy', message);
      },
      onChanged: ({ pod }) => this.workers?.sync(pod.uid),
    });
  }

  private createRegistration(info: RuntimeInfo): NodeRegistration {
    const { options, podCidr, client, clock, logger } = this.dependencies;
    return new NodeRegistration({
      client,
      clock,
      logger,
      nodeName: this.nodeName,
      labels: nodeLabels(this.nodeName, this.machine, options.nodeLabels),
      annotations: podAddressAnnotation(info),
      podCidr,
      statusPeriodMs: options.nodeStatusUpdateFrequencyMs,
      leaseDurationSeconds: options.nodeLeaseDurationSeconds,
      status: (current) => this.status(info, current),
    });
  }

  private async status(info: RuntimeInfo, current: Node | undefined): Promise<NodeStatus> {
    const { options, runtime, clock } = this.dependencies;
    return nodeStatus(
      {
        nodeName: this.nodeName,
        hostname: this.nodeName,
        addresses: [this.hostIp],
        port: this.port,
        podCountMax: options.maxPods,
        reserved: this.reserved(),
        machine: this.machine,
        runtime: info,
        runtimeStatus: await runtime.status(),
        pressure: this.pressure.check(clock.monotonicMs()),
        nowMs: clock.nowMs(),
      },
      current,
    );
  }

  private reserved(): { cpuCores: number; memoryBytes: number } {
    const { cpu, memory } = this.dependencies.options.systemReserved;
    return { cpuCores: quantityValue(cpu ?? '0'), memoryBytes: quantityValue(memory ?? '0') };
  }
}
