/**
 * Output of the core, which the replica carries out, and the events by which it reports the
 * results.
 */

import type { Message, RefusalCode } from './messages.js';
import type {
  Configuration,
  Entry,
  HardState,
  Leadership,
  LogIndex,
  LogPoint,
  MemberId,
  MembershipErrorCode,
  SnapshotPoint,
  Term,
} from './types.js';

/** One request to storage: one synced batch. At most one is in progress. */
export interface WriteRequest {
  /** Increases by one; the event `written` carries it. */
  readonly id: number;
  readonly hardState: HardState | undefined;
  /** Drop entries from this index on, before `entries` are appended. */
  readonly truncateFrom: LogIndex | undefined;
  readonly entries: readonly Entry[];
}

/**
 * Entries that are no longer in memory and that a peer, or this replica's own state, needs. The
 * event `entriesRead` returns them.
 */
export interface ReadRequest {
  /** This replica's own id: committed entries for its own state. */
  readonly peer: MemberId;
  readonly from: LogIndex;
  readonly to: LogIndex;
  readonly bytesMax: number;
}

export interface MembershipResult {
  readonly requestId: number;
  /** Absent: the new configuration is committed. */
  readonly error?: { readonly code: MembershipErrorCode; readonly message: string };
}

export interface TransferResult {
  readonly requestId: number;
  /** Absent: `to` leads, or another member does, so that the old leader may stop. */
  readonly error?: {
    readonly code: 'NotLeader' | 'UnknownMember' | 'NotVoter' | 'TargetLags' | 'TimedOut';
    readonly message: string;
  };
}

/**
 * Everything that the steps since the last `takeOutput` leave to do (etcd: Ready). The replica does
 * all of it, in any order, except that lists are in order.
 */
export interface Output {
  /** Absent while a write is in progress. */
  readonly write: WriteRequest | undefined;
  /** To send now. The core holds back messages that depend on a write until it is done. */
  readonly messages: readonly Message[];
  /**
   * Committed entries to deliver to the state, in order, each once. The event `applied` bounds how
   * far they run ahead.
   */
  readonly committed: readonly Entry[];
  /** The reader of `context` may read once `index` is applied; undefined index: retry. */
  readonly readStates: readonly {
    readonly context: number;
    readonly index: LogIndex | undefined;
  }[];
  readonly refusals: readonly { readonly ids: readonly number[]; readonly code: RefusalCode }[];
  readonly reads: readonly ReadRequest[];
  /** Peers that need a snapshot; the event `snapshotSent` reports the result for each. */
  readonly snapshotsToSend: readonly MemberId[];
  /**
   * Snapshot to install; the event `snapshotInstalled` reports the end. Set when no write is in
   * progress; until then the core accepts no entries and requests no write.
   */
  readonly install: SnapshotPoint | undefined;
  /** Received snapshots that are not wanted (any more): to be discarded. */
  readonly snapshotsRefused: readonly SnapshotPoint[];
  readonly membershipResults: readonly MembershipResult[];
  readonly transferResults: readonly TransferResult[];
  /** Set when it changed. */
  readonly leadership: Leadership | undefined;
  /** Set when the configuration in effect changed. */
  readonly configuration: Configuration | undefined;
}

/** Events that the replica reports to the core, besides messages. */
export type LocalEvent =
  | { readonly kind: 'written'; readonly id: number }
  /** `entries` undefined: the requested entries have been compacted. */
  | {
      readonly kind: 'entriesRead';
      readonly request: ReadRequest;
      readonly entries: readonly Entry[] | undefined;
    }
  /** The state has applied everything up to `index`. */
  | { readonly kind: 'applied'; readonly index: LogIndex }
  /** Entries up to `point` have been compacted on disk. */
  | { readonly kind: 'compacted'; readonly point: LogPoint }
  /** Sending ended; `point` undefined: it failed. */
  | {
      readonly kind: 'snapshotSent';
      readonly to: MemberId;
      readonly point: SnapshotPoint | undefined;
    }
  /** A whole, verified snapshot lies ready. */
  | {
      readonly kind: 'snapshotReceived';
      readonly point: SnapshotPoint;
      readonly from: MemberId;
      readonly term: Term;
    }
  /** State and log are as of `point`. */
  | { readonly kind: 'snapshotInstalled'; readonly point: SnapshotPoint }
  /** Messages to a peer may be lost: its queue was full, or it is not connected. */
  | { readonly kind: 'peerUnreachable'; readonly peer: MemberId; readonly connected: boolean }
  /** A fresh replica has met all its peers: from now on it takes part. */
  | { readonly kind: 'admitted' }
  /** Measured time of synced writes of this replica, for handing over from a slow disk. */
  | { readonly kind: 'diskLatency'; readonly p99Ms: number };
