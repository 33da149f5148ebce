/**
 * The agent of one node: takes the pods that the API has bound to it, runs them through a container
 * runtime, and reports them and the node. All its state is on disk, in the runtime and in the API; it
 * may be killed at any time.
 */
import { mkdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { EventRecorder, Informer, type RestClient, resources } from '@orch/client';
import {
  type Clock,
  type ComponentServer,
  type HealthChecks,
  type Logger,
  type Metrics,
  type Timer,
} from '@orch/component';
import type { Node, NodeStatus, Pod, Service } from '@orch/types/core/v1';
import { RequestedTokens } from './environment/account-tokens.js';
import { quantityValue } from './environment/quantity.js';
import { WatchedObjects } from './environment/watched-objects.js';
import { informerSyncTimeoutMs, logRotationPeriodMs } from './limits.js';
import { rotateLog } from './logs/log-rotation.js';
import type { NodeAgentOptions } from './node-agent-options.js';
import { type PodContext, podReference } from './pods/pod-context.js';
import { PodWorkers } from './pods/pod-workers.js';
import { RestartBackoff } from './pods/restart-backoff.js';
import { runHandler } from './probes/handlers.js';
import { Prober } from './probes/prober.js';
import {
  type Pressure,
  parseThresholds,
  pressureOf,
  type Threshold,
} from './registration/eviction-signals.js';
import { type HostFacts, hostAddress, hostFacts, hostPressure } from './registration/host-facts.js';
import { NodeRegistration } from './registration/node-registration.js';
import { nodeLabels, nodeStatus, podAddressAnnotation } from './registration/node-status.js';
import type { ContainerRuntime, RuntimeInfo } from './runtimes/container-runtime.js';
import { startAgentServer } from './server/agent-server.js';
import { StatusManager } from './status/status-manager.js';

export interface NodeAgentParts {
  /** Pods cannot be taken; must end the process. */
  readonly onFailed: (error: unknown) => void;
  readonly options: NodeAgentOptions;
  readonly client: RestClient;
  readonly runtime: ContainerRuntime;
  readonly health: HealthChecks;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** The node's name: the host's, unless it is given. Lower case, as names of objects are. */
export function nodeNameOf(options: Pick<NodeAgentOptions, 'nodeName'>): string {
  return (options.nodeName || hostname()).trim().toLowerCase();
}

/** Where the node is reached: as given, or where its server listens, or the machine's first address. */
function nodeIpOf({ nodeIp, address }: NodeAgentOptions): string {
  const listensAnywhere = address === '' || address === '0.0.0.0' || address === '::';
  return nodeIp || (listensAnywhere ? hostAddress() : address);
}

export class NodeAgent {
  readonly nodeName: string;
  private readonly rootDirectory: string;
  private readonly facts: HostFacts;
  private readonly hostIp: string;
  private readonly thresholds: readonly Threshold[];
  private readonly pods: Informer<Pod>;
  private readonly services: Informer<Service>;
  private readonly recorder: EventRecorder;
  private readonly statuses: StatusManager;
  private readonly objects: WatchedObjects;
  private readonly prober: Prober;
  private readonly pressureSeenMs = new Map<keyof Pressure, number>();
  private workers: PodWorkers | undefined;
  private registration: NodeRegistration | undefined;
  private server: ComponentServer | undefined;
  private rotationTimer: Timer | undefined;
  private containerCounts: ReturnType<Metrics['gauge']> | undefined;
  private readonly unsubscribe: (() => void)[] = [];
  private stopped = false;

  constructor(private readonly parts: NodeAgentParts) {
    const { options, client, clock, logger } = parts;
    this.nodeName = nodeNameOf(options);
    this.rootDirectory = resolve(options.rootDirectory);
    for (const name of ['pods', 'logs']) {
      mkdirSync(join(this.rootDirectory, name), { recursive: true, mode: 0o755 });
    }
    this.facts = hostFacts(this.rootDirectory);
    this.hostIp = nodeIpOf(options);
    this.thresholds = parseThresholds(options.evictionHard);
    this.recorder = new EventRecorder({
      client,
      component: 'kubelet',
      host: this.nodeName,
      logger,
      clock,
    });
    this.statuses = new StatusManager({ client, clock, logger });
    this.objects = new WatchedObjects({ client, clock, logger });
    this.prober = this.makeProber();
    const fieldSelector = `spec.nodeName=${this.nodeName}`;
    const shared = { client, clock, logger };
    this.pods = new Informer<Pod>({ ...shared, resource: resources.pods, fieldSelector });
    this.services = new Informer<Service>({ ...shared, resource: resources.services });
  }

  /** The port of the agent's server; 0 when it has none. */
  get port(): number {
    return this.server?.port ?? 0;
  }

  /**
   * Takes over what runs, registers the node and begins to work. Resolves before the API server has been
   * reached: what needs it is tried until it answers.
   */
  async start(): Promise<void> {
    const { runtime, options, client, random, logger, onFailed } = this.parts;
    await runtime.start();
    const info = await runtime.info();
    const workers = new PodWorkers({ context: this.podContext(info), client, random });
    this.workers = workers;
    this.unsubscribe.push(runtime.onContainerChanged((_id, pod) => workers.sync(pod.uid)));
    this.addMetrics(workers);
    if (options.enableServer) {
      const postReview = async (path: string, body: object) =>
        (await client.request('POST', path, { body })).json<unknown>();
      this.server = await startAgentServer({
        ...this.parts,
        nodeName: this.nodeName,
        workers,
        facts: this.facts,
        postReview,
      });
    }
    this.registration = this.makeRegistration(info);
    this.registration.start();
    this.services.start();
    this.pods.start();
    this.takePods(workers).catch(onFailed);
    this.rotateLater();
    const { nodeName, hostIp, port } = this;
    logger.info(
      { node: nodeName, address: hostIp, port, runtime: info.name },
      'node agent started',
    );
  }

  /** Lets go of the pods, which go on; with `teardown` they are ended and their network removed. */
  async stop({ teardown = this.parts.options.teardownOnStop } = {}): Promise<void> {
    this.stopped = true;
    this.rotationTimer?.cancel();
    for (const end of this.unsubscribe) end();
    this.registration?.stop();
    await this.server?.stop();
    await Promise.all([this.pods.stop(), this.services.stop()]);
    this.prober.stop();
    await this.workers?.stop();
    await Promise.all([this.statuses.stop(), this.objects.stop(), this.recorder.stop()]);
    await this.parts.runtime.stop({ teardown });
  }

  /** Pods start once services are known, and what nobody wants is removed once all pods are. */
  private async takePods(workers: PodWorkers): Promise<void> {
    if (!(await this.synced(this.services, 'services'))) return;
    const remove = this.pods.addHandlers({
      onAdd: (pod) => workers.update(pod),
      onUpdate: (pod) => workers.update(pod),
      onDelete: (pod) => workers.remove(pod),
    });
    this.unsubscribe.push(remove);
    if (await this.synced(this.pods, 'pods')) await workers.reclaim();
  }

  private async synced(
    informer: Informer<Pod> | Informer<Service>,
    what: string,
  ): Promise<boolean> {
    while (!this.stopped) {
      try {
        await informer.whenSynced(informerSyncTimeoutMs);
        return true;
      } catch (error) {
        if (!this.stopped)
          this.parts.logger.warn({ err: error, what }, 'waiting for the API server');
      }
    }
    return false;
  }

  private podContext(info: RuntimeInfo): PodContext {
    const { runtime, client, clock, logger } = this.parts;
    const reserved = this.reserved();
    return {
      runtime,
      runtimeName: info.name,
      prober: this.prober,
      objects: this.objects,
      accountTokens: new RequestedTokens({ client, clock, logger }),
      statuses: this.statuses,
      recorder: this.recorder,
      backoff: new RestartBackoff(),
      clock,
      logger,
      hostIp: this.hostIp,
      allocatable: {
        cpuCores: this.facts.cpuCores - reserved.cpuCores,
        memoryBytes: this.facts.memoryBytes - reserved.memoryBytes,
        ephemeralStorageBytes: this.facts.ephemeralStorageBytes,
      },
      podsDirectory: join(this.rootDirectory, 'pods'),
      logsDirectory: join(this.rootDirectory, 'logs'),
      services: () => this.services.lister.list(),
    };
  }

  private makeProber(): Prober {
    const { runtime, clock, logger, random } = this.parts;
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

  private makeRegistration(info: RuntimeInfo): NodeRegistration {
    const { options, client, clock, logger } = this.parts;
    return new NodeRegistration({
      client,
      clock,
      logger,
      nodeName: this.nodeName,
      labels: nodeLabels(this.nodeName, this.facts, options.nodeLabels),
      annotations: podAddressAnnotation(info),
      podCidr: options.podCidr,
      statusPeriodMs: options.nodeStatusUpdateFrequencyMs,
      leaseDurationSeconds: options.nodeLeaseDurationSeconds,
      status: (current) => this.status(info, current),
    });
  }

  private async status(info: RuntimeInfo, current: Node | undefined): Promise<NodeStatus> {
    const { options, runtime, clock } = this.parts;
    return nodeStatus(
      {
        nodeName: this.nodeName,
        hostname: this.nodeName,
        addresses: [this.hostIp],
        port: this.port,
        podCountMax: options.maxPods,
        reserved: this.reserved(),
        facts: this.facts,
        runtime: info,
        runtimeStatus: await runtime.status(),
        pressure: this.pressure(clock.monotonicMs()),
        nowMs: clock.nowMs(),
      },
      current,
    );
  }

  /** Pressure is reported for a while after it has gone, so that it does not come and go. */
  private pressure(nowMs: number): Pressure {
    const now = pressureOf(this.thresholds, this.facts, hostPressure(this.rootDirectory));
    const holds = (kind: keyof Pressure): boolean => {
      if (now[kind]) this.pressureSeenMs.set(kind, nowMs);
      const seenMs = this.pressureSeenMs.get(kind);
      const { evictionPressureTransitionMs } = this.parts.options;
      return seenMs !== undefined && nowMs - seenMs <= evictionPressureTransitionMs;
    };
    return { memory: holds('memory'), disk: holds('disk'), pid: holds('pid') };
  }

  private reserved(): { cpuCores: number; memoryBytes: number } {
    const { cpu, memory } = this.parts.options.systemReserved;
    return { cpuCores: quantityValue(cpu ?? '0'), memoryBytes: quantityValue(memory ?? '0') };
  }

  private addMetrics(workers: PodWorkers): void {
    const { metrics } = this.parts;
    metrics.gauge({
      name: 'kubelet_running_pods',
      help: 'Pods that this agent takes care of',
      collect: (gauge) => gauge.set(workers.podCount),
    });
    this.containerCounts = metrics.gauge({
      name: 'kubelet_running_containers',
      help: 'Containers by state, as of the last look at their logs',
      labels: ['container_state'],
    });
  }

  private rotateLater(): void {
    const { clock, logger } = this.parts;
    this.rotationTimer = clock.setTimer(logRotationPeriodMs, () => {
      this.rotateLogs()
        .catch((error: unknown) => logger.error({ err: error }, 'log rotation failed'))
        .finally(() => {
          if (!this.stopped) this.rotateLater();
        });
    });
  }

  private async rotateLogs(): Promise<void> {
    const { runtime, options, clock } = this.parts;
    const settings = {
      fileBytesMax: options.containerLogMaxBytes,
      fileCountMax: options.containerLogMaxFiles,
    };
    const containers = await runtime.listContainers();
    for (const state of ['created', 'running', 'exited', 'unknown'] as const) {
      const count = containers.filter((container) => container.state === state).length;
      this.containerCounts?.set({ container_state: state }, count);
    }
    for (const { id, state, logPath } of containers) {
      if (state === 'running' && rotateLog(logPath, settings, clock.nowMs())) {
        await runtime.reopenContainerLog(id);
      }
    }
  }
}
