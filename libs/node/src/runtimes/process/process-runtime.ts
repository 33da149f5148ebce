/**
 * A container runtime without images: a container is a process group on the host, with namespaces of
 * its own where the host permits it (see `isolation.ts`). Everything is on disk and each container has
 * a supervisor of its own, so the agent can be killed at any time and take over again. This is for
 * development, tests and small trusted set-ups: it keeps workloads apart, it does not hold them in.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { type Clock, KeyedMutex, type Logger, orchVersion } from '@orch/component';
import { execOutputBytesMax, sandboxCountMax } from '../../limits.js';
import {
  type ContainerConfig,
  type ContainerId,
  type ContainerListener,
  type ContainerRuntime,
  type ContainerStats,
  type ContainerStatus,
  type ExecResult,
  type RunningCommand,
  RuntimeError,
  type RuntimeInfo,
  type RuntimeStatus,
  type SandboxConfig,
  type SandboxId,
  type SandboxStatus,
} from '../container-runtime.js';
import { attachTo } from './attached-container.js';
import { Containers, imageReference } from './containers.js';
import { helperEnvironment, runCommand } from './helper-command.js';
import {
  checkTools,
  type IsolationMode,
  type IsolationSetting,
  namespaceOptions,
  probeIsolation,
} from './isolation.js';
import { shimInput } from './launch-spec.js';
import { dialDirectly, PodDialer } from './pod-dialer.js';
import { BridgeNetwork, LoopbackNetwork, type PodNetwork } from './pod-network.js';
import { startCommand, startInTerminal } from './running-command.js';
import { readStart, Shims, signal } from './shims.js';
import { RuntimeState, type SandboxRecord } from './state.js';
import { collectStats, type RunningContainer } from './stats.js';

export interface ProcessRuntimeOptions {
  /** Directory of its own, kept across restarts. */
  readonly root: string;
  /** IPv4 network of the node's pods. In plain mode they listen on its counterpart in 127/8. */
  readonly podCidr: string;
  /** Tells this node from others; with `root`, names of network interfaces derive from it. */
  readonly owner: string;
  readonly isolation: IsolationSetting;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class ProcessRuntime implements ContainerRuntime {
  private readonly state: RuntimeState;
  private readonly shims: Shims;
  private readonly containers: Containers;
  private readonly sandboxes = new Map<SandboxId, SandboxRecord>();
  private readonly sandboxMutex = new KeyedMutex();
  private readonly dialer: PodDialer;
  private network: PodNetwork;
  private mode: IsolationMode = 'plain';

  constructor(private readonly options: ProcessRuntimeOptions) {
    this.state = new RuntimeState(options.root, options.logger);
    this.shims = new Shims(options.root);
    this.dialer = new PodDialer(options.clock);
    this.containers = new Containers({ ...options, state: this.state, shims: this.shims });
    this.network = new LoopbackNetwork(options.podCidr);
  }

  /** How containers are kept apart; known after `start`. */
  get isolationMode(): IsolationMode {
    return this.mode;
  }

  async start(): Promise<void> {
    await checkTools();
    this.shims.install();
    for (const record of this.state.loadSandboxes()) this.sandboxes.set(record.id, record);
    const addresses = new Map<SandboxId, string>();
    for (const { id, address } of this.sandboxes.values()) if (address) addresses.set(id, address);
    await this.startNetwork(addresses);
    this.containers.start();
  }

  private async startNetwork(addresses: ReadonlyMap<SandboxId, string>): Promise<void> {
    const { podCidr, owner, root, logger, isolation } = this.options;
    const probed = await probeIsolation(isolation);
    let reason = probed.reason;
    if (probed.mode === 'isolated') {
      const bridge = new BridgeNetwork(podCidr, `${owner} ${resolve(root)}`, logger);
      try {
        await bridge.start(addresses);
        this.network = bridge;
        this.mode = 'isolated';
        logger.info(
          { mode: 'isolated', bridge: bridge.bridge, podCidr },
          'process runtime started',
        );
        return;
      } catch (error) {
        if (isolation === 'isolated') throw error;
        reason = error instanceof Error ? error.message : String(error);
      }
    }
    await this.network.start(addresses);
    logger.info({ mode: 'plain', reason, podCidr }, 'process runtime started');
  }

  async stop({ teardown }: { teardown: boolean }): Promise<void> {
    if (teardown) {
      await Promise.all([...this.sandboxes.keys()].map((id) => this.removeSandbox(id)));
      await this.network.teardown();
    }
    this.dialer.stop();
    this.containers.stop();
  }

  async info(): Promise<RuntimeInfo> {
    const localPodAddresses = this.mode === 'plain';
    return { name: 'process', version: orchVersion, localPodAddresses };
  }

  async status(): Promise<RuntimeStatus> {
    return { runtimeReady: true, networkReady: true };
  }

  async runSandbox(config: SandboxConfig): Promise<SandboxId> {
    if (this.sandboxes.size >= sandboxCountMax) {
      throw new RuntimeError('Exhausted', `more than ${sandboxCountMax} pod sandboxes`);
    }
    const id = randomBytes(16).toString('hex') as SandboxId;
    mkdirSync(config.logDirectory, { recursive: true, mode: 0o755 });
    const record: SandboxRecord = {
      id,
      config,
      createdAtMs: this.options.clock.nowMs(),
      stopped: false,
    };
    if (!config.hostNetwork) record.address = await this.network.attach(id);
    try {
      this.state.saveSandbox(record);
    } catch (error) {
      if (record.address) await this.network.detach(id, record.address);
      throw error;
    }
    this.sandboxes.set(id, record);
    return id;
  }

  async stopSandbox(id: SandboxId): Promise<void> {
    await this.sandboxMutex.run(id, async () => {
      const record = this.sandboxes.get(id);
      if (!record) return;
      await Promise.all(
        this.containers.ids(id).map((container) => this.containers.end(container, 0)),
      );
      if (record.stopped) return;
      if (record.address) await this.network.detach(id, record.address);
      record.stopped = true;
      delete record.address;
      this.state.saveSandbox(record);
    });
  }

  async removeSandbox(id: SandboxId): Promise<void> {
    await this.stopSandbox(id);
    await Promise.all(
      this.containers.ids(id).map((container) => this.containers.remove(container)),
    );
    this.sandboxes.delete(id);
    this.state.removeSandbox(id);
  }

  async sandboxStatus(id: SandboxId): Promise<SandboxStatus> {
    return this.describeSandbox(this.sandbox(id));
  }

  async listSandboxes(podUid?: string): Promise<SandboxStatus[]> {
    return [...this.sandboxes.values()]
      .filter(({ config }) => podUid === undefined || config.pod.uid === podUid)
      .map((record) => this.describeSandbox(record));
  }

  async pullImage(image: string): Promise<string> {
    return imageReference(image);
  }

  async createContainer(sandboxId: SandboxId, config: ContainerConfig): Promise<ContainerId> {
    const sandbox = this.sandbox(sandboxId);
    if (sandbox.stopped) throw new RuntimeError('NotFound', `sandbox ${sandboxId} is stopped`);
    const id = randomBytes(16).toString('hex') as ContainerId;
    const logPath = join(sandbox.config.logDirectory, config.logPath);
    const input = shimInput(config, {
      mode: this.mode,
      directory: this.state.containerDirectory(id),
      exitFile: this.state.exitFile(id),
      logPath,
      hostname: sandbox.config.hostNetwork ? '' : sandbox.config.hostname,
      hostPid: sandbox.config.hostPid,
    });
    const { environment: _environment, command: _command, args: _args, ...kept } = config;
    const createdAtMs = this.options.clock.nowMs();
    const { pod } = sandbox.config;
    this.containers.create({ id, sandboxId, pod, config: kept, createdAtMs, logPath }, input);
    return id;
  }

  async startContainer(id: ContainerId): Promise<void> {
    const sandbox = this.sandbox(this.containers.record(id).sandboxId);
    await this.containers.launch(id, this.namespaceWrapper(sandbox));
  }

  async stopContainer(id: ContainerId, graceMs: number): Promise<void> {
    await this.containers.end(id, graceMs);
  }

  async removeContainer(id: ContainerId): Promise<void> {
    await this.containers.remove(id);
  }

  async containerStatus(id: ContainerId): Promise<ContainerStatus> {
    return this.containers.status(id);
  }

  async listContainers(podUid?: string): Promise<ContainerStatus[]> {
    return this.containers
      .ids()
      .map((id) => this.containers.status(id))
      .filter(({ pod }) => podUid === undefined || pod.uid === podUid);
  }

  async reopenContainerLog(id: ContainerId): Promise<void> {
    // Supervisors open the log anew for each line; only the container has to exist.
    this.containers.record(id);
  }

  execSync(id: ContainerId, command: readonly string[], timeoutMs: number): Promise<ExecResult> {
    const [program, ...args] = this.commandInside(id, command);
    return runCommand(program!, args, {
      timeoutMs,
      outputBytesMax: execOutputBytesMax,
      environment: helperEnvironment,
    });
  }

  async exec(
    id: ContainerId,
    command: readonly string[],
    options: { readonly stdin: boolean; readonly tty: boolean },
  ): Promise<RunningCommand> {
    const argv = this.commandInside(id, command, options.tty ? ['TERM=xterm'] : []);
    return options.tty ? startInTerminal(argv) : startCommand(argv, options.stdin);
  }

  async attach(
    id: ContainerId,
    options: { readonly stdin: boolean; readonly endsInput: boolean },
  ): Promise<RunningCommand> {
    const shimPid = this.containers.shimPid(id);
    const directory = this.state.containerDirectory(id);
    const input = join(directory, 'stdin');
    const { tty } = this.containers.record(id).config;
    return attachTo({
      status: () => this.containers.status(id),
      onChanged: (listener) =>
        this.containers.onChanged((changed) => {
          if (changed === id) listener();
        }),
      inputPath: options.stdin && existsSync(input) ? input : undefined,
      endInput: () => options.endsInput && void signal(shimPid, 'SIGUSR2'),
      clock: this.options.clock,
      terminalFile: tty ? join(directory, 'terminal') : undefined,
    });
  }

  async dial(id: SandboxId, port: number): Promise<Socket> {
    const { address } = this.sandbox(id);
    const namespace = address ? this.network.namespacePath(id) : undefined;
    if (address && namespace) return this.dialer.dialInside(namespace, address, port);
    // Without a network of its own a pod listens where its address leads.
    return dialDirectly(address ? this.network.localAddress(address) : '127.0.0.1', port);
  }

  /** What has to be run on the host for the command to run in the container. */
  private commandInside(
    id: ContainerId,
    command: readonly string[],
    environment: readonly string[] = [],
  ): string[] {
    const shimPid = this.containers.shimPid(id);
    const { config, sandboxId } = this.containers.record(id);
    const { hostPid } = this.sandbox(sandboxId).config;
    const groups = config.user?.supplementalGroups.join(',') ?? '';
    const user = config.user
      ? [`--userspec=${config.user.uid}:${config.user.gid}`, `--groups=${groups}`]
      : [];
    const root = join(this.state.containerDirectory(id), 'root');
    const wrapper =
      this.mode === 'isolated'
        ? [
            ...['nsenter', `--target=${shimPid}`, '--mount', '--uts', '--net'],
            ...(hostPid ? [] : ['--pid']),
            ...['chroot', ...user, root],
          ]
        : config.user
          ? ['chroot', ...user, '/']
          : [];
    const directory = config.workingDirectory || '/';
    const variables = [...environment, ...this.state.environmentOf(id)];
    return [...wrapper, 'env', '-i', '-C', directory, ...variables, ...command];
  }

  async listContainerStats(): Promise<ContainerStats[]> {
    const running: RunningContainer[] = [];
    for (const id of this.containers.ids()) {
      const status = this.containers.status(id);
      const started = readStart(this.state.containerDirectory(id));
      if (status.state !== 'running' || !started) continue;
      running.push({ status, started, shimPid: this.containers.shimPid(id) });
    }
    return collectStats(running, this.options.clock.nowMs());
  }

  onContainerChanged(listener: ContainerListener): () => void {
    return this.containers.onChanged(listener);
  }

  private namespaceWrapper(sandbox: SandboxRecord): string[] {
    if (this.mode === 'plain') return [];
    const namespace = sandbox.address ? this.network.namespacePath(sandbox.id) : undefined;
    const enter = namespace ? ['nsenter', `--net=${namespace}`] : [];
    return [...enter, 'unshare', ...namespaceOptions(sandbox.config.hostPid)];
  }

  private describeSandbox(record: SandboxRecord): SandboxStatus {
    const { id, config, createdAtMs, stopped, address } = record;
    const attached = address === undefined || this.network.isAttached(id);
    return {
      id,
      pod: config.pod,
      attempt: config.attempt,
      state: !stopped && attached ? 'ready' : 'notReady',
      createdAtMs,
      ...(address === undefined
        ? {}
        : { podIp: address, localIp: this.network.localAddress(address) }),
    };
  }

  private sandbox(id: SandboxId): SandboxRecord {
    const record = this.sandboxes.get(id);
    if (!record) throw new RuntimeError('NotFound', `sandbox ${id} does not exist`);
    return record;
  }
}
