/**
 * The replicated log on a thread of its own, seen from the main thread: fsync, heartbeats and elections do
 * not wait for the work of the API, nor that for them. What is here only carries: decisions are all made
 * on the other side.
 *
 * Invariants: entries reach the state in order, each once, the next ones after it has applied those before;
 * whatever the other thread dies of ends the process.
 */
import type { Clock, Logger } from '@orch/component';
import type { Configuration, MemberId, MembershipChange } from '../core/types.js';
import { Deadlines, type Waiting } from '../deadlines.js';
import { HOST_STOP_MS, READERS_MAX } from '../limits.js';
import type { ReplicaObserver } from '../log-observer.js';
import {
  type AppliedState,
  LogError,
  type LogHandlers,
  type LogIndex,
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
import type { HostMethods, RequestMessage, ResponseMessage, ToHost, ToMain } from './protocol.js';
import { writeLines } from './remote-logger.js';
import { makeCalls } from './remote-observer.js';
import { HostedSnapshots } from './remote-snapshots.js';

/** The other side of the port. */
export interface HostThread {
  readonly port: Port;
  /** Ends it, whatever it does. */
  terminate(): Promise<void>;
}

export interface HostedLogOptions {
  /** Begins the other thread. `onEnded` is told once when it ends without having been asked to. */
  readonly connect: (onEnded: (error: Error) => void) => HostThread;
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
  readonly thread: HostThread;
  readonly channel: PortChannel<ToHost, ToMain>;
  readonly handlers: LogHandlers;
  readonly snapshots: HostedSnapshots;
}

const NOT_STARTED = 'the log has not been started';

export class HostedLog implements ReplicatedLog {
  readonly #options: HostedLogOptions;
  readonly #readers: Deadlines<Reader>;
  readonly #proposals: ProposalOutbox;
  #connected: Connected | undefined;
  #status: LogStatus | undefined;
  #ended: LogError | undefined;
  #stopping: Promise<void> | undefined;

  constructor(options: HostedLogOptions) {
    this.#options = options;
    this.#readers = new Deadlines(options.clock);
    this.#proposals = new ProposalOutbox({
      listens: () => this.#connected !== undefined,
      closed: () => this.#ended?.message ?? (this.#connected ? undefined : NOT_STARTED),
      send: (packed) => this.#sendProposals(packed),
      refused: (id, error) => this.#connected?.handlers.onRefused([id], error),
    });
  }

  async start(state: AppliedState, handlers: LogHandlers): Promise<void> {
    if (this.#connected) throw new LogError('Stopped', 'a log is started once');
    const thread = this.#options.connect((error) => this.#fail(error));
    const snapshots = new HostedSnapshots(handlers.snapshots);
    const channel = new PortChannel<ToHost, ToMain>({
      port: thread.port,
      defer: setImmediate,
      onMessage: (message) => this.#receive(message),
      onRequest: (method, argument) => snapshots.answer(method, argument),
    });
    this.#connected = { thread, channel, handlers, snapshots };
    try {
      this.#status = await this.#call('start', { state });
    } catch (error) {
      this.#end(new LogError('Stopped', 'the log did not start', { cause: error }));
      await thread.terminate();
      throw error;
    }
  }

  propose(id: number, command: Buffer): void {
    this.#proposals.add(id, command);
  }

  readBarrier(deadlineMs: number): Promise<LogIndex> {
    if (this.#ended) return Promise.reject(this.#ended);
    if (this.#readers.size >= READERS_MAX) {
      return Promise.reject(new LogError('QueueFull', `${this.#readers.size} readers wait`));
    }
    return new Promise((resolve, reject) => {
      const expired = () => reject(new LogError('NoQuorum', this.#reason()));
      const reader = { deadlineMs, resolve, reject, expired };
      this.#readers.add(reader);
      const timeoutMs = this.#timeLeft(deadlineMs);
      this.#call('readBarrier', { timeoutMs }).then(
        (index) => this.#readers.remove(reader) && resolve(index),
        (error: Error) => this.#readers.remove(reader) && reject(error),
      );
    });
  }

  truncate(index: LogIndex): Promise<void> {
    return this.#call('truncate', { index });
  }

  status(): LogStatus {
    if (!this.#status) throw new LogError('Stopped', NOT_STARTED);
    if (!this.#ended) return this.#status;
    return { ...this.#status, unavailableReason: this.#ended.message };
  }

  async changeMembership(change: MembershipChange, deadlineMs: number): Promise<Configuration> {
    const configuration = await this.#operate({ kind: 'changeMembership', change }, deadlineMs);
    return configuration!;
  }

  async transferLeadership(to: MemberId | undefined, deadlineMs: number): Promise<void> {
    await this.#operate({ kind: 'transferLeadership', to }, deadlineMs);
  }

  peerStatus(deadlineMs: number): Promise<readonly ReplicaStatus[]> {
    return this.#call('peerStatus', { timeoutMs: this.#timeLeft(deadlineMs) });
  }

  setFacts(facts: Readonly<Record<string, string | number>>): void {
    this.#connected?.channel.post({ kind: 'facts', facts });
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    const connected = this.#connected;
    const hadFailed = this.#ended !== undefined;
    this.#end(new LogError('Stopped', 'the log is stopped'));
    if (!connected) return;
    if (!hadFailed) await this.#stopHost(connected);
    connected.channel.close(new LogError('Stopped', 'the log is stopped'));
    await connected.thread.terminate();
    await connected.snapshots.closeAll();
  }

  /** Lets the other thread end in order, for a while. */
  async #stopHost({ channel }: Connected): Promise<void> {
    const { clock, logger } = this.#options;
    const stopped = channel.call('stop', undefined).then(
      () => true,
      (error: unknown) => {
        logger.error({ error }, 'the replica did not stop in order');
        return true;
      },
    );
    const late = new Promise<boolean>((resolve) => {
      clock.setTimer(HOST_STOP_MS, () => resolve(false));
    });
    if (!(await Promise.race([stopped, late]))) {
      logger.error({ timeoutMs: HOST_STOP_MS }, 'the replica did not stop in time');
    }
  }

  #receive(message: Exclude<ToMain, RequestMessage | ResponseMessage>): void {
    const { handlers } = this.#connected!;
    const { logger, observer } = this.#options;
    switch (message.kind) {
      case 'committed':
        if (!this.#ended) this.#apply(unpackEntries(message.firstIndex, message.packed));
        return;
      case 'refused':
        if (!this.#ended) {
          handlers.onRefused(message.ids, new LogError(message.code, message.message));
        }
        return;
      case 'leadership':
        if (!this.#ended) handlers.onLeadership(message.leadership);
        return;
      case 'status':
        this.#status = message.status;
        return;
      case 'logged':
        writeLines(logger, message.lines);
        return;
      case 'observed':
        if (observer) makeCalls(observer, message.calls);
        return;
      case 'fatal':
        this.#fail(fromPortError(message.error));
    }
  }

  #apply(entries: ReturnType<typeof unpackEntries>): void {
    const { handlers, channel } = this.#connected!;
    const applied = () => channel.post({ kind: 'applied' });
    const failed = (error: unknown) => {
      this.#fail(
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

  #sendProposals(packed: ArrayBuffer): void {
    const { channel } = this.#connected!;
    channel.post({ kind: 'propose', packed }, packed);
    // This is the end of a turn already.
    channel.flush();
  }

  async #operate(request: OperatorRequest, deadlineMs: number): Promise<Configuration | undefined> {
    if (this.#ended) throw new MembershipError('Stopped', this.#ended.message);
    return this.#call('operate', { request, timeoutMs: this.#timeLeft(deadlineMs) });
  }

  #call<Method extends keyof HostMethods>(
    method: Method,
    argument: Parameters<HostMethods[Method]>[0],
  ): ReturnType<HostMethods[Method]> {
    const answer = this.#ended
      ? Promise.reject(this.#ended)
      : (this.#connected?.channel.call(method, argument) ??
        Promise.reject(new LogError('Stopped', NOT_STARTED)));
    return answer as ReturnType<HostMethods[Method]>;
  }

  #timeLeft(deadlineMs: number): number {
    return Math.max(0, deadlineMs - this.#options.clock.monotonicMs());
  }

  #reason(): string {
    return this.#status?.unavailableReason ?? 'the leader has not answered in time';
  }

  #end(error: LogError): void {
    this.#ended ??= error;
    for (const reader of this.#readers.takeAll()) reader.reject(error);
  }

  #fail(error: Error): void {
    if (this.#ended) return;
    this.#end(new LogError('Stopped', error.message, { cause: error }));
    this.#connected?.channel.close(this.#ended!);
    this.#options.onFatal(error);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
