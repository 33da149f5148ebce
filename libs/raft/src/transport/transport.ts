/**
 * The seam to the network between replicas. `GrpcTransport` is the real one, the simulation has its
 * own.
 */

import type { Message } from '../core/messages.js';
import type {
  Configuration,
  Member,
  MemberId,
  MembershipChange,
  SnapshotPoint,
  Term,
} from '../core/types.js';
import type { ReplicaStatus } from '../replicated-log.js';

/**
 * Version of the wire protocol of this program. Raised when an older program could not read the
 * messages of a newer one.
 */
export const wireProtocolVersion = 1;

/** The first message of both sides on every stream. */
export interface Greeting {
  readonly clusterId: string;
  readonly memberId: MemberId;
  readonly storageId: string;
  /** Version of the wire protocol: both sides use the lower one. */
  readonly protocolVersion: number;
  /** The greeter has not taken part in anything yet. */
  readonly fresh: boolean;
}

/** Response to a greeting; anything but `welcome` ends the stream. */
export type GreetingAnswer =
  | { readonly kind: 'welcome'; readonly greeting: Greeting }
  /** Another cluster: this peer must not be talked to. */
  | { readonly kind: 'wrongCluster'; readonly clusterId: string }
  /** Not in the configuration (any more). `removed`: it was once. */
  | { readonly kind: 'unknownMember'; readonly removed: boolean }
  /** The id is known with another directory: that one was wiped. */
  | { readonly kind: 'wrongStorage' };

/** A request of an operator to the leader, forwarded by another member. */
export type OperatorRequest =
  | { readonly kind: 'changeMembership'; readonly change: MembershipChange }
  | { readonly kind: 'transferLeadership'; readonly to: MemberId | undefined };

export type OperatorAnswer =
  | { readonly kind: 'done'; readonly configuration: Configuration }
  /** `code` of a MembershipError. */
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

/** Why messages to a peer may be lost. */
export interface PeerLoss {
  readonly reason: string;
  /** False: the stream broke or could not be opened. True: the queue of the peer was full. */
  readonly connected: boolean;
}

/** Handlers of incoming messages and requests. Calls are synchronous and must be fast. */
export interface TransportHandlers {
  /**
   * Decides over a peer that connects here. A promise where the peer is met for the first time: it
   * is noted durably before it is welcome.
   */
  onGreeting(greeting: Greeting): GreetingAnswer | Promise<GreetingAnswer>;
  /** The peer's response to our greeting. */
  onAnswer(peer: MemberId, answer: GreetingAnswer): void;
  onMessages(messages: readonly Message[]): void;
  /** Messages to `peer` may be lost. */
  onUnreachable(peer: MemberId, loss: PeerLoss): void;
  /**
   * Handles an incoming snapshot: `chunks` is pulled at the reader's pace. Resolves once it is
   * ready to install, rejects to refuse it.
   */
  onSnapshot(
    from: MemberId,
    term: Term,
    point: SnapshotPoint,
    chunks: AsyncIterable<Buffer>,
  ): Promise<void>;
  /** Returns the status of this replica. */
  onStatusRequest(): ReplicaStatus;
  /** Called at the leader only; `failed` with `NotLeader` elsewhere. Never rejects. */
  onOperatorRequest(request: OperatorRequest, deadlineMs: number): Promise<OperatorAnswer>;
  /** Time of one message round to a peer, measured by the transport's own ping. */
  onRoundTrip(peer: MemberId, durationMs: number): void;
}

export interface Transport {
  /** Listens and connects. Rejects when the address is taken or a certificate is unusable. */
  start(greeting: () => Greeting, handlers: TransportHandlers): Promise<void>;
  /**
   * Sets the peers: all members of the configuration except this one. Replaces the earlier ones.
   */
  setPeers(peers: readonly Member[]): void;
  /** Queued up to a bound per peer, else dropped (consensus repeats what matters). Never throws. */
  send(messages: readonly Message[]): void;
  /**
   * Resolves when the peer has it whole and verified. Paced, on a connection of its own. Rejects on
   * failure.
   */
  sendSnapshot(
    to: MemberId,
    term: Term,
    point: SnapshotPoint,
    chunks: AsyncIterable<Buffer>,
  ): Promise<void>;
  /** Requests the status of one peer. */
  requestStatus(peer: MemberId, deadlineMs: number): Promise<ReplicaStatus>;
  /**
   * Requests the status of the replica at `peerUrl`. Works before `start`: a new member learns the
   * cluster that it joins, and its id, in this way.
   */
  requestStatusAt(peerUrl: string, deadlineMs: number): Promise<ReplicaStatus>;
  /** Forwards an operator's request to one peer, the leader. Rejects without a response in time. */
  requestOperation(
    peer: MemberId,
    request: OperatorRequest,
    deadlineMs: number,
  ): Promise<OperatorAnswer>;
  stop(): Promise<void>;
}
