/** The seam to the network between replicas. `GrpcTransport` is the real one, the simulation has its own. */
import type {
  Configuration,
  Member,
  MemberId,
  MembershipChange,
  Message,
  SnapshotPoint,
  Term,
} from '../core/types.js';
import type { ReplicaStatus } from '../replicated-log.js';

/** Of the wire, as this program speaks it. Raised when an older program could not read what a newer one says. */
export const PROTOCOL_VERSION = 1;

/** Told by both sides before anything else, on every stream. */
export interface Greeting {
  readonly clusterId: string;
  readonly memberId: MemberId;
  readonly storageId: string;
  /** Of the wire: both sides speak the lower one. */
  readonly protocolVersion: number;
  /** The greeter has not taken part in anything yet. */
  readonly fresh: boolean;
}

/** What the greeted side answers; anything but `welcome` ends the stream. */
export type GreetingAnswer =
  | { readonly kind: 'welcome'; readonly greeting: Greeting }
  /** Another cluster: this peer must not be talked to. */
  | { readonly kind: 'wrongCluster'; readonly clusterId: string }
  /** Not in the configuration (any more). `removed`: it was once. */
  | { readonly kind: 'unknownMember'; readonly removed: boolean }
  /** The id is known with another directory: that one was wiped. */
  | { readonly kind: 'wrongStorage' };

/** What an operator asks of the leader, passed on by another member. */
export type OperatorRequest =
  | { readonly kind: 'changeMembership'; readonly change: MembershipChange }
  | { readonly kind: 'transferLeadership'; readonly to: MemberId | undefined };

export type OperatorAnswer =
  | { readonly kind: 'done'; readonly configuration: Configuration }
  /** `code` of a MembershipError. */
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

/** What comes in. Calls are synchronous and must be quick. */
export interface TransportHandlers {
  /**
   * Decides over a peer that connects here. A promise where the peer is met for the first time: it is
   * noted durably before it is welcome.
   */
  onGreeting(greeting: Greeting): GreetingAnswer | Promise<GreetingAnswer>;
  /** The peer's answer to our own greeting. */
  onAnswer(peer: MemberId, answer: GreetingAnswer): void;
  onMessages(messages: readonly Message[]): void;
  /** The stream to `peer` broke or could not be opened; messages in flight may be lost. */
  onUnreachable(peer: MemberId, reason: string): void;
  /** A snapshot comes in: `chunks` is pulled at the reader's pace. Resolves once it is ready to install, rejects to refuse. */
  onSnapshot(
    from: MemberId,
    term: Term,
    point: SnapshotPoint,
    chunks: AsyncIterable<Buffer>,
  ): Promise<void>;
  /** What this replica says of itself when asked. */
  onStatusRequest(): ReplicaStatus;
  /** Only asked of the leader; `failed` with `NotLeader` elsewhere. Never rejects. */
  onOperatorRequest(request: OperatorRequest, deadlineMs: number): Promise<OperatorAnswer>;
  /** Time of one message round to a peer, measured by the transport's own ping. */
  onRoundTrip(peer: MemberId, durationMs: number): void;
}

export interface Transport {
  /** Listens and connects. Rejects when the address is taken or a certificate is unusable. */
  start(greeting: () => Greeting, handlers: TransportHandlers): Promise<void>;
  /** Whom to stay connected to: everybody in the configuration but this member. Replaces what was set before. */
  setPeers(peers: readonly Member[]): void;
  /** Queued up to a bound per peer, else dropped (consensus repeats what matters). Never throws. */
  send(messages: readonly Message[]): void;
  /** Resolves when the peer has it whole and verified. Paced, on a connection of its own. Rejects on failure. */
  sendSnapshot(
    to: MemberId,
    term: Term,
    point: SnapshotPoint,
    chunks: AsyncIterable<Buffer>,
  ): Promise<void>;
  /** Asks one peer for its status. */
  requestStatus(peer: MemberId, deadlineMs: number): Promise<ReplicaStatus>;
  /**
   * Asks whoever listens at `peerUrl` for its status. Works before `start`: a new member learns in that way
   * which cluster it joins and under which id.
   */
  requestStatusAt(peerUrl: string, deadlineMs: number): Promise<ReplicaStatus>;
  /** Asks one peer, the leader, to do it. Rejects when there is no answer in time. */
  requestOperation(
    peer: MemberId,
    request: OperatorRequest,
    deadlineMs: number,
  ): Promise<OperatorAnswer>;
  stop(): Promise<void>;
}
