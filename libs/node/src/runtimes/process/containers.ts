/**
 * The containers of the process runtime: their records on disk, their supervisors and their states.
 * A container is running from its launch until its exit is recorded. If a supervisor was killed
 * before it recorded the exit, this class records it, so that each container ends exactly once.
 */
import { type FSWatcher, mkdirSync, watch, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { type Clock, DeadlineError, errorMessage, type Logger, type Timer } from '@orch/component';
import { containerCountMax, killTimeoutMs, livenessCheckPeriodMs } from '../../limits.js';
import {
  type ContainerId,
  type ContainerListener,
  type ContainerState,
  type ContainerStatus,
  RuntimeError,
  type SandboxId,
} from '../container-runtime.js';
import { parseContainerId } from './ids.js';
import { sendSignal } from './proc.js';
import { killOrphans, readExit, readStart, type Shims } from './shims.js';
import type { ContainerRecord, RuntimeState, ShimInput } from './state.js';

/** Exit code of a container that was killed. */
const killedExitCode = 137;
/** Exit code of a container whose command could not be started. */
const startFailedExitCode = 128;

interface Container {
  readonly record: ContainerRecord;
  state: ContainerState;
  shimPid?: number;
  startedAtMs?: number;
  finishedAtMs?: number;
  exitCode?: number;
  message?: string;
  readonly exitWaiters: Set<() => void>;
}

export interface ContainersDependencies {
  readonly state: RuntimeState;
  readonly shims: Shims;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class Containers {
  private readonly containers = new Map<ContainerId, Container>();
  private readonly listeners = new Set<ContainerListener>();
  private watcher: FSWatcher | undefined;
  private timer: Timer | undefined;

  constructor(private readonly dependencies: ContainersDependencies) {}

  /**
   * Loads the records on disk, finds running supervisors, and kills supervisors without a record.
   */
  start(): void {
    const { state, shims, logger } = this.dependencies;
    this.watcher = watch(state.exits, (_event, name) => {
      if (name) this.applyExit(parseContainerId(name));
    });
    this.watcher.on('error', (error) => logger.error({ err: error }, 'watch of exits failed'));
    const alive = shims.findAll();
    for (const record of state.loadContainers()) {
      const directory = state.containerDirectory(record.id);
      const shimPid = alive.get(directory);
      alive.delete(directory);
      const started = readStart(directory);
      const container: Container = {
        record,
        state: shimPid === undefined && !started ? 'created' : 'running',
        exitWaiters: new Set(),
        ...(shimPid === undefined ? {} : { shimPid }),
        ...(started ? { startedAtMs: started.startedAtMs } : {}),
      };
      this.containers.set(record.id, container);
      this.applyExit(record.id);
    }
    for (const [directory, pid] of alive) {
      logger.warn({ directory, pid }, 'killing container without a record');
      sendSignal(pid, 'SIGUSR1');
    }
    this.checkLiveness();
  }

  stop(): void {
    this.watcher?.close();
    this.timer?.cancel();
    this.timer = undefined;
    this.watcher = undefined;
  }

  onChanged(listener: ContainerListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  create(record: ContainerRecord, input: ShimInput): void {
    if (this.containers.size >= containerCountMax) {
      throw new RuntimeError('Exhausted', `more than ${containerCountMax} containers`);
    }
    this.dependencies.state.createContainer(record, input);
    this.containers.set(record.id, { record, state: 'created', exitWaiters: new Set() });
  }

  async launch(id: ContainerId, wrapper: readonly string[]): Promise<void> {
    const { state, shims, clock } = this.dependencies;
    const container = this.get(id);
    if (container.state !== 'created') {
      throw new RuntimeError('InvalidConfig', `container ${id} has been started before`);
    }
    const directory = state.containerDirectory(id);
    mkdirSync(dirname(container.record.logPath), { recursive: true, mode: 0o755 });
    container.state = 'running';
    try {
      container.shimPid = await shims.launch(directory, wrapper);
      container.startedAtMs = readStart(directory)?.startedAtMs ?? clock.nowMs();
      this.applyExit(id);
    } catch (error) {
      container.message = errorMessage(error);
      this.abortLaunch(container);
      throw error;
    }
  }

  /** Sends TERM, then KILL after `graceMs`, and waits for the exit. */
  async terminate(id: ContainerId, graceMs: number): Promise<void> {
    const container = this.get(id);
    if (container.state === 'created') this.recordExit(container, killedExitCode);
    if (container.state !== 'running') return;
    if (graceMs > 0) {
      this.signalShim(container, 'SIGTERM');
      if (await this.waitForExit(container, graceMs)) return;
    }
    this.signalShim(container, 'SIGUSR1');
    if (await this.waitForExit(container, killTimeoutMs)) return;
    this.signalShim(container, 'SIGKILL');
    this.checkSupervisor(container);
    if (await this.waitForExit(container, killTimeoutMs)) return;
    throw new DeadlineError(`end of container ${id}`, killTimeoutMs);
  }

  async remove(id: ContainerId): Promise<void> {
    if (!this.containers.has(id)) return;
    await this.terminate(id, 0);
    this.containers.delete(id);
    this.dependencies.state.removeContainer(id);
  }

  record(id: ContainerId): ContainerRecord {
    return this.get(id).record;
  }

  /** Returns the host process id of the supervisor of a running container. */
  shimPid(id: ContainerId): number {
    const { state, shimPid } = this.get(id);
    if (state !== 'running' || shimPid === undefined) {
      throw new RuntimeError('NotFound', `container ${id} is not running`);
    }
    return shimPid;
  }

  ids(sandboxId?: SandboxId): ContainerId[] {
    return [...this.containers.values()]
      .filter(({ record }) => sandboxId === undefined || record.sandboxId === sandboxId)
      .map(({ record }) => record.id);
  }

  status(id: ContainerId): ContainerStatus {
    const container = this.get(id);
    const { record, exitCode, message, startedAtMs, finishedAtMs } = container;
    return {
      id,
      sandboxId: record.sandboxId,
      pod: record.pod,
      name: record.config.name,
      attempt: record.config.attempt,
      state: container.state,
      createdAtMs: record.createdAtMs,
      image: record.config.image,
      imageRef: imageReference(record.config.image),
      logPath: record.logPath,
      annotations: record.config.annotations,
      ...(startedAtMs === undefined ? {} : { startedAtMs }),
      ...(finishedAtMs === undefined ? {} : { finishedAtMs }),
      ...(exitCode === undefined
        ? {}
        : { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error' }),
      ...(message === undefined ? {} : { message }),
    };
  }

  /** Applies the exit record of the container, if it is complete. */
  private applyExit(id: ContainerId): void {
    const container = this.containers.get(id);
    if (!container || container.state === 'exited') return;
    const exit = readExit(this.dependencies.state.exitFile(id));
    if (!exit) return;
    container.state = 'exited';
    container.exitCode = exit.exitCode;
    container.finishedAtMs = exit.finishedAtMs;
    for (const wake of container.exitWaiters) wake();
    for (const listener of this.listeners) listener(id, container.record.pod);
  }

  private recordExit(container: Container, exitCode: number): void {
    const { id } = container.record;
    const seconds = (this.dependencies.clock.nowMs() / 1000).toFixed(6);
    writeFileSync(this.dependencies.state.exitFile(id), `${exitCode} ${seconds}\n`, {
      mode: 0o600,
    });
    this.applyExit(id);
  }

  private checkLiveness(): void {
    for (const container of this.containers.values()) {
      if (container.state === 'running') this.checkSupervisor(container);
    }
    this.timer = this.dependencies.clock.setTimer(livenessCheckPeriodMs, () =>
      this.checkLiveness(),
    );
  }

  /** Records the exit of a container whose supervisor was killed or lost in a reboot. */
  private checkSupervisor(container: Container): void {
    const { state, shims, logger } = this.dependencies;
    const directory = state.containerDirectory(container.record.id);
    if (container.shimPid === undefined && container.startedAtMs === undefined) return;
    if (container.shimPid !== undefined && shims.isAlive(container.shimPid, directory)) return;
    this.applyExit(container.record.id);
    if (container.state === 'exited') return;
    logger.warn({ container: container.record.id }, 'container ended without an exit record');
    const started = readStart(directory);
    // In a process namespace the supervisor is process 1, and the kernel kills all others with it.
    if (started && started.shimPid !== 1) killOrphans(started);
    container.message = 'the supervisor of the container ended without recording an exit code';
    this.recordExit(container, killedExitCode);
  }

  /** Kills the supervisor that a failed launch may have left, and records the exit. */
  private abortLaunch(container: Container): void {
    const { state, shims } = this.dependencies;
    const directory = state.containerDirectory(container.record.id);
    const pid = shims.findAll().get(directory);
    if (pid !== undefined) sendSignal(pid, 'SIGKILL');
    const started = readStart(directory);
    if (started && started.shimPid !== 1) killOrphans(started);
    this.applyExit(container.record.id);
    if (container.state !== 'exited') this.recordExit(container, startFailedExitCode);
  }

  private signalShim(container: Container, name: 'SIGTERM' | 'SIGUSR1' | 'SIGKILL'): void {
    const directory = this.dependencies.state.containerDirectory(container.record.id);
    if (container.shimPid === undefined) return;
    if (this.dependencies.shims.isAlive(container.shimPid, directory))
      sendSignal(container.shimPid, name);
    else this.checkSupervisor(container);
  }

  /** Returns whether the container exits within `timeoutMs`. */
  private waitForExit(container: Container, timeoutMs: number): Promise<boolean> {
    if (container.state === 'exited') return Promise.resolve(true);
    return new Promise((resolve) => {
      const settle = (exited: boolean) => {
        timer.cancel();
        container.exitWaiters.delete(wake);
        resolve(exited);
      };
      const wake = () => settle(true);
      const timer = this.dependencies.clock.setTimer(timeoutMs, () => settle(false));
      container.exitWaiters.add(wake);
    });
  }

  private get(id: ContainerId): Container {
    const container = this.containers.get(id);
    if (!container) throw new RuntimeError('NotFound', `container ${basename(id)} does not exist`);
    return container;
  }
}

/** Returns the reference of an image, which is only its name. */
export function imageReference(image: string): string {
  return `process://${image}`;
}
