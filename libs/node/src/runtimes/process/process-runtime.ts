/**
 * A container runtime without images: a container is a process group on the host, with namespaces
 * of its own if the host permits it (see `isolation.ts`). All state is on disk and each container
 * has its own supervisor, so the agent can be killed at any time and continue after a restart. The
 * runtime is for development, tests and small trusted installations: it separates workloads, but it
 * does not confine malicious ones.
 */
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { type Clock, errorMessage, type Logger, orchVersion } from '@orch/component';
import { execOutputBytesMax } from '../../limits.js';
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
import { commandInside, namespaceWrapper } from './container-command.js';
import { Containers, imageReference } from './containers.js';
import { helperEnvironment, runCommand } from './helper-command.js';
import { newContainerId } from './ids.js';
import {
  checkTools,
  type IsolationMode,
  type IsolationSetting,
  probeIsolation,
} from './isolation.js';
import { shimInput } from './launch-spec.js';
import { dialDirectly, PodDialer } from './pod-dialer.js';
import { BridgeNetwork, LoopbackNetwork, type PodNetwork } from './pod-network.js';
import { sendSignal } from './proc.js';
import { startCommand, startInTerminal } from './running-command.js';
import { Sandboxes } from './sandboxes.js';
import { readStart, Shims } from './shims.js';
import { RuntimeState } from './state.js';
import { collectStats, type RunningContainer } from './stats.js';

export interface ProcessRuntimeOptions {
  /** The state directory, preserved across restarts. */
  readonly root: string;
  /** The IPv4 network of the node's pods. In plain mode pods listen on its counterpart in 127/8. */
  readonly podCidr: string;
  /** Identifies this node; with `root`, the names of network interfaces derive from it. */
  readonly owner: string;
  readonly isolation: IsolationSetting;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class ProcessRuntime implements ContainerRuntime {
  private readonly state: RuntimeState;
  private readonly shims: Shims;
  private readonly containers: Containers;
  private readonly sandboxes: Sandboxes;
  private readonly dialer: PodDialer;
  private network: PodNetwork;
  private mode: IsolationMode = 'plain';

  constructor(private readonly options: ProcessRuntimeOptions) {
    const { root, clock, logger, podCidr } = options;
    const state = new RuntimeState(root, logger);
    this.state = state;
    this.shims = new Shims(root);
    this.dialer = new PodDialer(clock);
    this.containers = new Containers({ state, shims: this.shims, clock, logger });
    this.network = new LoopbackNetwork(podCidr);
    this.sandboxes = new Sandboxes({
      state,
      containers: this.containers,
      clock,
      network: () => this.network,
    });
  }

  /** The isolation in use, after `start`. */
  get isolationMode(): IsolationMode {
    return this.mode;
  }

  async start(): Promise<void> {
    await checkTools();
    this.shims.install();
    await this.startNetwork(this.sandboxes.load());
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
        const fields = { mode: 'isolated', bridge: bridge.bridge, podCidr };
        logger.info(fields, 'process runtime started');
        return;
      } catch (error) {
        if (isolation === 'isolated') throw error;
        reason = errorMessage(error);
      }
    }
    await this.network.start(addresses);
    logger.info({ mode: 'plain', reason, podCidr }, 'process runtime started');
  }

  async stop({ teardown }: { teardown: boolean }): Promise<void> {
    if (teardown) {
      await this.sandboxes.removeAll();
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

  runSandbox(config: SandboxConfig): Promise<SandboxId> {
    return this.sandboxes.create(config);
  }

  async stopSandbox(id: SandboxId): Promise<void> {
    await this.sandboxes.stop(id);
  }

  async removeSandbox(id: SandboxId): Promise<void> {
    await this.sandboxes.remove(id);
  }

  async sandboxStatus(id: SandboxId): Promise<SandboxStatus> {
    return this.sandboxes.status(id);
  }

  async listSandboxes(podUid?: string): Promise<SandboxStatus[]> {
    return this.sandboxes.list(podUid);
  }

  async pullImage(image: string): Promise<string> {
    return imageReference(image);
  }

  async createContainer(sandboxId: SandboxId, config: ContainerConfig): Promise<ContainerId> {
    const sandbox = this.sandboxes.get(sandboxId);
    if (sandbox.stopped) throw new RuntimeError('NotFound', `sandbox ${sandboxId} is stopped`);
    const id = newContainerId();
    const logPath = join(sandbox.config.logDirectory, config.logPath);
    const input = shimInput(config, {
      mode: this.mode,
      directory: this.state.containerDirectory(id),
      exitFile: this.state.exitFile(id),
      logPath,
      hostname: sandbox.config.hostNetwork ? '' : sandbox.config.hostname,
      hostPid: sandbox.config.hostPid,
    });
    const { environment: _environment, command: _command, args: _args, ...recorded } = config;
    const createdAtMs = this.options.clock.nowMs();
    const { pod } = sandbox.config;
    this.containers.create({ id, sandboxId, pod, config: recorded, createdAtMs, logPath }, input);
    return id;
  }

  async startContainer(id: ContainerId): Promise<void> {
    const sandbox = this.sandboxes.get(this.containers.record(id).sandboxId);
    const networkNamespace = sandbox.address ? this.network.namespacePath(sandbox.id) : undefined;
    const wrapper = namespaceWrapper(this.mode, networkNamespace, sandbox.config.hostPid);
    await this.containers.launch(id, wrapper);
  }

  async stopContainer(id: ContainerId, graceMs: number): Promise<void> {
    await this.containers.terminate(id, graceMs);
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
    // Supervisors open the log for each line, so only the existence of the container is checked.
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
      endInput: () => options.endsInput && void sendSignal(shimPid, 'SIGUSR2'),
      clock: this.options.clock,
      terminalFile: tty ? join(directory, 'terminal') : undefined,
    });
  }

  async dial(id: SandboxId, port: number): Promise<Socket> {
    const { address } = this.sandboxes.get(id);
    const namespace = address ? this.network.namespacePath(id) : undefined;
    if (address && namespace) return this.dialer.dialInside(namespace, address, port);
    // Without a network namespace a pod listens on its local address on the host.
    return dialDirectly(address ? this.network.localAddress(address) : '127.0.0.1', port);
  }

  private commandInside(
    id: ContainerId,
    command: readonly string[],
    environment: readonly string[] = [],
  ): string[] {
    const { config, sandboxId } = this.containers.record(id);
    const entry = {
      mode: this.mode,
      shimPid: this.containers.shimPid(id),
      hostPid: this.sandboxes.get(sandboxId).config.hostPid,
      config,
      rootDirectory: join(this.state.containerDirectory(id), 'root'),
      environment: [...environment, ...this.state.environmentOf(id)],
    };
    return commandInside(entry, command);
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
}
