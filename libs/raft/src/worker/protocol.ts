/**
 * What goes between the main thread and the replica's thread: plain data that structured cloning
 * takes. Messages of one turn go together as an array. Instants do not travel, since the two
 * threads count time from different zeros: a deadline goes as the time that is left.
 */
import type { Configuration, Leadership, LogIndex, SnapshotPoint } from '../core/types.js';
import type { ReplicaObserver } from '../log-observer.js';
import type {
  AppliedState,
  LogErrorCode,
  LogStatus,
  MembershipFailure,
  ReplicaStatus,
} from '../replicated-log.js';
import type { OperatorRequest } from '../transport/transport.js';
import type { TransportErrorCode } from '../transport/transport-error.js';

/** Both ends send requests and responses; `id` is the requester's. */
export interface RequestMessage {
  readonly kind: 'request';
  readonly id: number;
  readonly method: string;
  readonly argument: unknown;
}

export interface ResponseMessage {
  readonly kind: 'response';
  readonly id: number;
  readonly value?: unknown;
  readonly error?: PortError;
}

/** An error without its class; the errors of this library have a `code`. */
export interface PortError {
  readonly name: string;
  readonly code?: LogErrorCode | MembershipFailure | TransportErrorCode;
  readonly message: string;
  readonly stack?: string;
}

/** To the replica's thread. */
export type ToWorker =
  | RequestMessage
  | ResponseMessage
  /** See `packProposals`. */
  | { readonly kind: 'propose'; readonly packed: ArrayBuffer }
  /** The state has applied the last delivery. */
  | { readonly kind: 'applied' }
  | { readonly kind: 'facts'; readonly facts: Readonly<Record<string, string | number>> };

/** To the main thread. */
export type ToMain =
  | RequestMessage
  | ResponseMessage
  /** See `packEntries`. The next ones come after `applied`. */
  | { readonly kind: 'committed'; readonly firstIndex: LogIndex; readonly packed: ArrayBuffer }
  | {
      readonly kind: 'refused';
      readonly ids: readonly number[];
      readonly code: LogErrorCode;
      readonly message: string;
    }
  | { readonly kind: 'leadership'; readonly leadership: Leadership }
  | { readonly kind: 'status'; readonly status: LogStatus }
  | { readonly kind: 'logged'; readonly lines: readonly LogLine[] }
  | { readonly kind: 'observed'; readonly calls: readonly ObserverCall[] }
  | { readonly kind: 'fatal'; readonly error: PortError };

export type LoggerMethod = 'debug' | 'info' | 'warn' | 'error' | 'fatal';

export interface LogLine {
  readonly level: LoggerMethod;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** One call of a method of `ReplicaObserver`, with its arguments. */
export type ObserverCall = {
  readonly [Method in keyof ReplicaObserver]: readonly [
    Method,
    ...Parameters<ReplicaObserver[Method]>,
  ];
}[keyof ReplicaObserver];

/** Requests of the main thread to the replica's thread, by method. */
export interface WorkerMethods {
  /** `readIndex`: the memory of the `PublishedIndex`. */
  start(argument: { readonly state: AppliedState }): Promise<{
    readonly status: LogStatus;
    readonly readIndex: SharedArrayBuffer;
  }>;
  readBarrier(argument: { readonly timeoutMs: number }): Promise<LogIndex>;
  truncate(argument: { readonly index: LogIndex }): Promise<void>;
  operate(argument: {
    readonly request: OperatorRequest;
    readonly timeoutMs: number;
  }): Promise<Configuration | undefined>;
  peerStatus(argument: { readonly timeoutMs: number }): Promise<readonly ReplicaStatus[]>;
  stop(argument: undefined): Promise<void>;
}

/**
 * Requests of the replica's thread to the main thread, which holds the state. Snapshots are
 * identified by a handle.
 */
export interface MainMethods {
  openSnapshot(argument: undefined): Promise<{ handle: number; appliedIndex: LogIndex }>;
  nextChunk(argument: { readonly handle: number }): Promise<ArrayBuffer | undefined>;
  closeSnapshot(argument: { readonly handle: number }): Promise<void>;
  receiveSnapshot(argument: undefined): Promise<{ handle: number }>;
  writeChunk(argument: { readonly handle: number; readonly chunk: ArrayBuffer }): Promise<void>;
  finishSnapshot(argument: { readonly handle: number }): Promise<{ appliedIndex: LogIndex }>;
  discardSnapshot(argument: { readonly handle: number }): Promise<void>;
  installSnapshot(argument: { readonly point: SnapshotPoint }): Promise<void>;
}
