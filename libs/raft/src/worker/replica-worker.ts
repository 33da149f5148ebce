/**
 * The worker's end of the port: runs a replicated log for the main thread. One batch of committed
 * entries is with the main thread at a time; the next follows when that is applied.
 */
import type { Clock, Logger, Timer } from '@orch/component';
import type { Configuration, LogIndex } from '../core/types.js';
import {
  logDelayMs,
  observationsMax,
  reportIntervalMs,
  statusIntervalMaxMs,
  statusIntervalMs,
} from '../limits.js';
import type { ReplicaObserver } from '../log-observer.js';
import { PublishedIndex } from '../replica/requests/published-index.js';
import {
  type CommittedEntry,
  type LogHandlers,
  MembershipError,
  type ReplicaStatus,
  type ReplicatedLog,
} from '../replicated-log.js';
import { packEntries, unpackProposals } from './packing.js';
import { type Answer, type Port, PortChannel } from './port-channel.js';
import { toPortError } from './port-errors.js';
import type {
  MainMethods,
  RequestMessage,
  ResponseMessage,
  ToMain,
  ToWorker,
  WorkerMethods,
} from './protocol.js';
import { RemoteLog } from './remote-logger.js';
import { RemoteObserver } from './remote-observer.js';
import { type CallMain, RemoteSnapshots } from './remote-snapshots.js';

export interface WorkerLogDependencies {
  readonly logger: Logger;
  readonly observer: ReplicaObserver;
  readonly readIndex: PublishedIndex;
  /** Must be called at most once. */
  readonly onFatal: (error: Error) => void;
}

export interface ReplicaWorkerDependencies {
  readonly port: Port;
  readonly clock: Clock;
  /** Makes the log that is hosted, not yet started. */
  readonly createLog: (parts: WorkerLogDependencies) => ReplicatedLog;
}

export class ReplicaWorker implements WorkerMethods {
  private readonly clock: Clock;
  private readonly log: ReplicatedLog;
  private readonly channel: PortChannel<ToMain, ToWorker>;
  private readonly lines: RemoteLog;
  private readonly observer: RemoteObserver;
  private readonly readIndex = new PublishedIndex();
  /** Set while the main thread has entries that it has not applied. */
  private applied: (() => void) | undefined;
  private running = false;
  private stopping = false;
  private reportedStatus = '';
  private statusTimer: Timer | undefined;
  private reportTimer: Timer | undefined;
  private logTimer: Timer | undefined;

  constructor({ port, clock, createLog }: ReplicaWorkerDependencies) {
    this.clock = clock;
    this.channel = new PortChannel<ToMain, ToWorker>({
      port,
      defer: queueMicrotask,
      onMessage: (message) => this.receive(message),
      onRequest: (method, argument) => this.answer(method, argument),
    });
    this.lines = new RemoteLog(() => {
      this.logTimer = clock.setTimer(logDelayMs, () => this.reportLines());
    });
    this.observer = new RemoteObserver(observationsMax, () => this.report());
    this.watch();
    this.log = createLog({
      logger: this.lines.logger(),
      observer: this.observer,
      readIndex: this.readIndex,
      onFatal: (error) => this.fail(error),
    });
  }

  /** Reports to the main thread that the log cannot continue. */
  fail(error: unknown): void {
    this.report();
    this.channel.post({ kind: 'fatal', error: toPortError(error) });
    this.channel.flush();
  }

  async start({ state }: Parameters<WorkerMethods['start']>[0]) {
    const call: CallMain = <Method extends keyof MainMethods>(
      method: Method,
      argument: Parameters<MainMethods[Method]>[0],
      transfer?: ArrayBuffer,
    ) => this.channel.call(method, argument, transfer) as ReturnType<MainMethods[Method]>;
    const handlers: LogHandlers = {
      onCommitted: (entries) => this.deliver(entries),
      onRefused: (ids, { code, message }) =>
        this.channel.post({ kind: 'refused', ids: [...ids], code, message }),
      onLeadership: (leadership) => {
        this.channel.post({ kind: 'leadership', leadership });
        this.watchStatusClosely();
      },
      snapshots: new RemoteSnapshots(call),
    };
    await this.log.start(state, handlers);
    this.running = true;
    this.watchStatus();
    return { status: this.log.status(), readIndex: this.readIndex.memory };
  }

  readBarrier({ timeoutMs }: { readonly timeoutMs: number }): Promise<LogIndex> {
    return this.log.readBarrier(this.deadline(timeoutMs));
  }

  truncate({ index }: { readonly index: LogIndex }): Promise<void> {
    return this.log.truncate(index);
  }

  async operate({
    request,
    timeoutMs,
  }: Parameters<WorkerMethods['operate']>[0]): Promise<Configuration | undefined> {
    const deadlineMs = this.deadline(timeoutMs);
    if (request.kind === 'changeMembership') {
      return this.log.changeMembership(request.change, deadlineMs);
    }
    await this.log.transferLeadership(request.to, deadlineMs);
    return undefined;
  }

  peerStatus({ timeoutMs }: { readonly timeoutMs: number }): Promise<readonly ReplicaStatus[]> {
    return this.log.peerStatus(this.deadline(timeoutMs));
  }

  async stop(): Promise<void> {
    this.running = false;
    this.stopping = true;
    this.statusTimer?.cancel();
    // The main thread applies nothing any more.
    this.applied?.();
    await this.log.stop();
    this.reportTimer?.cancel();
    this.logTimer?.cancel();
    this.report();
  }

  private deliver(entries: readonly CommittedEntry[]): Promise<void> | undefined {
    if (this.stopping) return undefined;
    // Entries of the log's own have no command: the members may have changed. Sent before the
    // entries, so that a reader that waits for these sees the members.
    if (entries.some(({ command }) => command.length === 0)) this.watchStatusClosely();
    const packed = packEntries(entries);
    this.channel.post({ kind: 'committed', firstIndex: entries[0]!.index, packed }, packed);
    return new Promise((resolve) => {
      this.applied = resolve;
    });
  }

  private receive(message: Exclude<ToWorker, RequestMessage | ResponseMessage>): void {
    switch (message.kind) {
      case 'propose':
        for (const { id, command } of unpackProposals(message.packed)) {
          this.log.propose(id, command);
        }
        return;
      case 'applied': {
        const applied = this.applied;
        this.applied = undefined;
        applied?.();
        return;
      }
      case 'facts':
        this.log.setFacts(message.facts);
    }
  }

  private async answer(method: string, argument: unknown): Promise<Answer> {
    switch (method) {
      case 'start':
      case 'readBarrier':
      case 'truncate':
      case 'operate':
      case 'peerStatus':
      case 'stop': {
        const perform = this[method] as (argument: unknown) => Promise<unknown>;
        return { value: await perform.call(this, argument) };
      }
      default:
        throw new MembershipError('Stopped', `no method ${method}`);
    }
  }

  private watchStatusClosely(): void {
    this.statusTimer?.cancel();
    if (this.running) this.watchStatus();
  }

  /**
   * Looks often after the start and after a change of leadership or members, when others wait for
   * the status.
   */
  private watchStatus(intervalMs = statusIntervalMs): void {
    this.reportStatus();
    const nextMs = Math.min(2 * intervalMs, statusIntervalMaxMs);
    this.statusTimer = this.clock.setTimer(intervalMs, () => this.watchStatus(nextMs));
  }

  private reportStatus(): void {
    if (!this.running) return;
    const status = this.log.status();
    const text = JSON.stringify(status);
    if (text === this.reportedStatus) return;
    this.reportedStatus = text;
    this.channel.post({ kind: 'status', status });
  }

  private watch(): void {
    this.report();
    this.reportTimer = this.clock.setTimer(reportIntervalMs, () => this.watch());
  }

  /** Sends log lines and measurements. */
  private report(): void {
    this.reportLines();
    const calls = this.observer.take();
    if (calls.length > 0) this.channel.post({ kind: 'observed', calls });
  }

  private reportLines(): void {
    this.logTimer?.cancel();
    const lines = this.lines.take();
    if (lines.length > 0) this.channel.post({ kind: 'logged', lines });
  }

  private deadline(timeoutMs: number): number {
    return this.clock.monotonicMs() + timeoutMs;
  }
}
