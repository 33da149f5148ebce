/**
 * The replicated log on a worker thread, seen from the main thread: fsync, heartbeats and elections
 * do not wait for the API, and the API does not wait for them. This side only transfers; the other
 * side decides.
 *
 * Invariants: entries reach the state in order, each once, the next ones after it has applied the
 * ones before; a failure of the other thread ends the process.
 */
import type { Clock, Logger } from '@orch/component';
import type { Configuration, LogIndex, MemberId, MembershipChange } from '../core/types.js';
import { Deadlines, type Waiting } from '../deadlines.js';
import { hostStopTimeoutMs, readersMax } from '../limits.js';
import type { ReplicaObserver } from '../log-observer.js';
import { PublishedIndex } from '../replica/requests/published-index.js';
import {
  type AppliedState,
  LogError,
  type LogHandlers,
  type LogStatus,
  MembershipError,
  type ReplicaStatus,
  type ReplicatedLog,
} from '../replicated-log.js';
import type { OperatorRequest } from '../transport/transport.js';
import { unpackEntries } from './packing.js';
import { type Port, PortChannel } from './port-channel.js';
import { fromPortError } from './port-errors.js';
import { ProposalOutbox } from './proposal-outbox.js';
import type {
  RequestMessage,
  ResponseMessage,
  ToMain,
  ToWorker,
  WorkerMethods,
} from './protocol.js';
import { writeLines } from './remote-logger.js';
import { makeCalls } from './remote-observer.js';
import { SnapshotServer } from './remote-snapshots.js';

/** The other side of the port. */
export interface ReplicaThread {
  readonly port: Port;
  /** Ends it, whatever it does. */
  terminate(): Promise<void>;
}

export interface WorkerReplicatedLogDependencies {
  /** Starts the other thread. `onEnded` is called once when it ends unexpectedly. */
  readonly connect: (onEnded: (error: Error) => void) => ReplicaThread;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer?: ReplicaObserver;
  /** Must end the process. Called at most once. */
  readonly onFatal: (error: Error) => void;
}

interface Reader extends Waiting {
  readonly resolve: (index: LogIndex) => void;
  readonly reject: (error: Error) => void;
}

/** What exists once the other thread runs. */
interface Connected {
  readonly thread: ReplicaThread;
  readonly channel: PortChannel<ToWorker, ToMain>;
  readonly handlers: LogHandlers;
  readonly snapshots: SnapshotServer;
}

const notStarted = 'the log has not been started';

export class WorkerReplicatedLog implements ReplicatedLog {
  private readonly options: WorkerReplicatedLogDependencies;
  private readonly readers: Deadlines<Reader>;
  private readonly proposals: ProposalOutbox;
  private connected: Connected | undefined;
  private latestStatus: LogStatus | undefined;
  private readIndex: PublishedIndex | undefined;
  private ended: LogError | undefined;
  private stopping: Promise<void> | undefined;

  constructor(options: WorkerReplicatedLogDependencies) {
    this.options = options;
    this.readers = new Deadlines(options.clock);
    this.proposals = new ProposalOutbox({
      listens: () => this.connected !== undefined,
      closed: () => this.ended?.message ?? (this.connected ? undefined : notStarted),
      send: (packed) => this.sendProposals(packed),
      refused: (id, error) => this.connected?.handlers.onRefused([id], error),
    });
  }

  async start(state: AppliedState, handlers: LogHandlers): Promise<void> {
    if (this.connected) throw new LogError('Stopped', 'a log is started once');
    const thread = this.options.connect((error) => this.fail(error));
    const snapshots = new SnapshotServer(handlers.snapshots);
    const channel = new PortChannel<ToWorker, ToMain>({
      port: thread.port,
      defer: setImmediate,
      onMessage: (message) => this.receive(message),
      onRequest: (method, argument) => snapshots.answer(method, argument),
    });
    this.connected = { thread, channel, handlers, snapshots };
    try {
      const { status, readIndex } = await this.call('start', { state });
      this.latestStatus = status;
      this.readIndex = new PublishedIndex(readIndex);
    } catch (error) {
      this.end(new LogError('Stopped', 'the log did not start', { cause: error }));
      await thread.terminate();
      throw error;
    }
  }

  propose(id: number, command: Buffer): void {
    this.proposals.add(id, command);
  }

  localReadIndex(): LogIndex | undefined {
    return this.ended ? undefined : this.readIndex?.read();
  }

  readBarrier(deadlineMs: number): Promise<LogIndex> {
    if (this.ended) return Promise.reject(this.ended);
    if (this.readers.size >= readersMax) {
      return Promise.reject(new LogError('QueueFull', `${this.readers.size} readers wait`));
    }
    return new Promise((resolve, reject) => {
      const expired = () => reject(new LogError('NoQuorum', this.reason()));
      const reader = { deadlineMs, resolve, reject, expired };
      this.readers.add(reader);
      const timeoutMs = this.timeLeft(deadlineMs);
      this.call('readBarrier', { timeoutMs }).then(
        (index) => this.readers.remove(reader) && resolve(index),
        (error: Error) => this.readers.remove(reader) && reject(error),
      );
    });
  }

  truncate(index: LogIndex): Promise<void> {
    return this.call('truncate', { index });
  }

  status(): LogStatus {
    if (!this.latestStatus) throw new LogError('Stopped', notStarted);
    if (!this.ended) return this.latestStatus;
    return { ...this.latestStatus, unavailableReason: this.ended.message };
  }

  async changeMembership(change: MembershipChange, deadlineMs: number): Promise<Configuration> {
    const configuration = await this.operate({ kind: 'changeMembership', change }, deadlineMs);
    return configuration!;
  }

  async transferLeadership(to: MemberId | undefined, deadlineMs: number): Promise<void> {
    await this.operate({ kind: 'transferLeadership', to }, deadlineMs);
  }

  peerStatus(deadlineMs: number): Promise<readonly ReplicaStatus[]> {
    return this.call('peerStatus', { timeoutMs: this.timeLeft(deadlineMs) });
  }

  setFacts(facts: Readonly<Record<string, string | number>>): void {
    this.connected?.channel.post({ kind: 'facts', facts });
  }

  stop(): Promise<void> {
    this.stopping ??= this.shutDown();
    return this.stopping;
  }

  private async shutDown(): Promise<void> {
    const connected = this.connected;
    const hadFailed = this.ended !== undefined;
    this.end(new LogError('Stopped', 'the log is stopped'));
    if (!connected) return;
    if (!hadFailed) await this.stopHost(connected);
    connected.channel.close(new LogError('Stopped', 'the log is stopped'));
    await connected.thread.terminate();
    await connected.snapshots.closeAll();
  }

  /** Lets the other thread end in order, for a while. */
  private async stopHost({ channel }: Connected): Promise<void> {
    const { clock, logger } = this.options;
    const stopped = channel.call('stop', undefined).then(
      () => true,
      (error: unknown) => {
        logger.error({ error }, 'the replica did not stop in order');
        return true;
      },
    );
    const late = new Promise<boolean>((resolve) => {
      clock.setTimer(hostStopTimeoutMs, () => resolve(false));
    });
    if (!(await Promise.race([stopped, late]))) {
      logger.error({ timeoutMs: hostStopTimeoutMs }, 'the replica did not stop in time');
    }
  }

  private receive(message: Exclude<ToMain, RequestMessage | ResponseMessage>): void {
    const { handlers } = this.connected!;
    const { logger, observer } = this.options;
    switch (message.kind) {
      case 'committed':
        if (!this.ended) this.apply(unpackEntries(message.firstIndex, message.packed));
        return;
      case 'refused':
        if (!this.ended) {
          handlers.onRefused(message.ids, new LogError(message.code, message.message));
        }
        return;
      case 'leadership':
        if (!this.ended) handlers.onLeadership(message.leadership);
        return;
      case 'status':
        this.latestStatus = message.status;
        return;
      case 'logged':
        writeLines(logger, message.lines);
        return;
      case 'observed':
        if (observer) makeCalls(observer, message.calls);
        return;
      case 'fatal':
        this.fail(fromPortError(message.error));
    }
  }

  private apply(entries: ReturnType<typeof unpackEntries>): void {
    const { handlers, channel } = this.connected!;
    const applied = () => channel.post({ kind: 'applied' });
    const failed = (error: unknown) => {
      this.fail(
        new Error(`applying committed entries failed: ${messageOf(error)}`, { cause: error }),
      );
    };
    try {
      const held = handlers.onCommitted(entries);
      if (held) held.then(applied, failed);
      else applied();
    } catch (error) {
      failed(error);
    }
  }

  private sendProposals(packed: ArrayBuffer): void {
    const { channel } = this.connected!;
    channel.post({ kind: 'propose', packed }, packed);
    // This is the end of a turn already.
    channel.flush();
  }

  private async operate(
    request: OperatorRequest,
    deadlineMs: number,
  ): Promise<Configuration | undefined> {
    if (this.ended) throw new MembershipError('Stopped', this.ended.message);
    return this.call('operate', { request, timeoutMs: this.timeLeft(deadlineMs) });
  }

  private call<Method extends keyof WorkerMethods>(
    method: Method,
    argument: Parameters<WorkerMethods[Method]>[0],
  ): ReturnType<WorkerMethods[Method]> {
    const answer = this.ended
      ? Promise.reject(this.ended)
      : (this.connected?.channel.call(method, argument) ??
        Promise.reject(new LogError('Stopped', notStarted)));
    return answer as ReturnType<WorkerMethods[Method]>;
  }

  private timeLeft(deadlineMs: number): number {
    return Math.max(0, deadlineMs - this.options.clock.monotonicMs());
  }

  private reason(): string {
    return this.latestStatus?.unavailableReason ?? 'the leader has not responded in time';
  }

  private end(error: LogError): void {
    this.ended ??= error;
    for (const reader of this.readers.takeAll()) reader.reject(error);
  }

  private fail(error: Error): void {
    if (this.ended) return;
    this.end(new LogError('Stopped', error.message, { cause: error }));
    this.connected?.channel.close(this.ended!);
    this.options.onFatal(error);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
