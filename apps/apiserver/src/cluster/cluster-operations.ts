/**
 * The operations on the cluster of replicas: members, leader, state and checks. Any replica serves
 * them; the log forwards changes to the leader. An external store has no replicas, and none of
 * these operations.
 */
import { randomBytes } from 'node:crypto';
import { StatusError, serviceUnavailable } from '@orch/apimachinery';
import { type Clock, sleep } from '@orch/component';
import {
  asMemberId,
  type Configuration,
  type Member,
  MembershipError,
  type ReplicaStatus,
  type ReplicatedLog,
} from '@orch/raft';
import type { ReplicatedStore } from '@orch/store';
import { checkPrefix } from './replica-facts.js';
import type { NewMember } from './requests.js';

export interface MemberView {
  readonly id: string;
  readonly name: string;
  readonly role: 'leader' | 'follower' | 'learner';
  readonly peerUrl: string;
  readonly clientUrl: string;
  /** Whether the replica responded in time; otherwise the fields below are missing. */
  readonly healthy: boolean;
  /** Why the replica is not healthy or not available. */
  readonly reason?: string;
  readonly pid?: number;
  readonly version?: string;
  readonly term?: number;
  readonly commitIndex?: number;
  readonly appliedIndex?: number;
  readonly firstIndex?: number;
  readonly lastIndex?: number;
  readonly revision?: number;
  readonly stateHash?: string;
  readonly keyCount?: number;
  /** Bytes of its log on disk. */
  readonly dbSizeBytes?: number;
}

export interface ClusterView {
  readonly clusterId: string;
  readonly leader: string;
  readonly revision: number;
  readonly members: readonly MemberView[];
}

export interface MemberHash {
  readonly id: string;
  readonly name: string;
  /** Undefined if the replica did not respond in time; `reason` has the cause. */
  readonly hash?: string;
  readonly reason?: string;
}

export interface ClusterCheck {
  readonly consistent: boolean;
  readonly revision: number;
  readonly members: readonly MemberHash[];
}

const lastCheckKey = `${checkPrefix}last`;
const checkPollMs = 100;
/** Limit on the wait for the status of the other replicas. */
const statusTimeoutMs = 2_000;

export class ClusterOperations {
  constructor(
    private readonly log: ReplicatedLog,
    readonly store: ReplicatedStore,
    private readonly clock: Clock,
    /** Limit on the time for a change of members or of the leader. */
    private readonly changeTimeoutMs: number,
  ) {}

  async status(): Promise<ClusterView> {
    const replicas = await this.log.peerStatus(this.clock.monotonicMs() + statusTimeoutMs);
    const { clusterId, configuration, leader } = this.log.status();
    return {
      clusterId,
      leader: leader ?? '',
      revision: this.store.revision(),
      members: replicas.map((replica) => memberView(replica, configuration)),
    };
  }

  members(): Configuration {
    return this.log.status().configuration;
  }

  /** Adds a learner. Throws StatusError. */
  async addMember({ name, peerUrl, clientUrl = '' }: NewMember): Promise<Member> {
    const member: Member = {
      id: asMemberId(randomBytes(8).toString('hex')),
      name,
      peerUrl,
      clientUrl,
    };
    await this.change({ kind: 'addLearner', member });
    return member;
  }

  async removeMember(idOrName: string): Promise<Configuration> {
    return this.change({ kind: 'remove', id: (await this.find(idOrName)).id });
  }

  async promote(idOrName: string): Promise<Configuration> {
    return this.change({ kind: 'promote', id: (await this.find(idOrName)).id });
  }

  /** Transfers the leadership, by default to the most up-to-date voter. */
  async moveLeader(idOrName: string | undefined, timeoutMs = this.changeTimeoutMs): Promise<void> {
    const to = idOrName === undefined ? undefined : (await this.find(idOrName)).id;
    await asStatus(this.log.transferLeadership(to, this.clock.monotonicMs() + timeoutMs));
  }

  /**
   * Updates the URLs of this replica in the configuration if they have changed. Rejects with
   * StatusError.
   */
  async announce(): Promise<void> {
    const { self, configuration } = this.log.status();
    const { voters, learners } = configuration;
    const known = [...voters, ...learners].find(({ id }) => id === self.id);
    if (!known) return;
    const { clientUrl, peerUrl } = self;
    if (known.clientUrl === clientUrl && known.peerUrl === peerUrl) return;
    await this.change({ kind: 'update', member: { ...known, clientUrl, peerUrl } });
  }

  /** Whether this replica leads and another voter exists. */
  leadsOthers(): boolean {
    const { role, configuration } = this.log.status();
    return role === 'leader' && configuration.voters.length > 1;
  }

  /** Compares the hashes of the content of all replicas at one revision. */
  async check(): Promise<ClusterCheck> {
    const bytes = Buffer.from(JSON.stringify({ at: new Date(this.clock.nowMs()).toISOString() }));
    const { revision } = await this.store.commit(
      [{ kind: 'put', key: lastCheckKey, bytes }],
      this.changeTimeoutMs,
    );
    const untilMs = this.clock.monotonicMs() + this.changeTimeoutMs;
    for (;;) {
      const replicas = await this.log.peerStatus(this.clock.monotonicMs() + statusTimeoutMs);
      const members = replicas.map((replica) => hashView(replica, revision));
      const isComplete = members.every(({ hash }) => hash !== undefined);
      if (isComplete || this.clock.monotonicMs() > untilMs) {
        const consistent = isComplete && new Set(members.map(({ hash }) => hash)).size === 1;
        return { consistent, revision, members };
      }
      await sleep(checkPollMs);
    }
  }

  private async change(
    change: Parameters<ReplicatedLog['changeMembership']>[0],
  ): Promise<Configuration> {
    const deadlineMs = this.clock.monotonicMs() + this.changeTimeoutMs;
    return asStatus(this.log.changeMembership(change, deadlineMs));
  }

  /**
   * Rejects with 404. Reads with a quorum first: until then this replica may not know the last
   * change of members, and its name may be that of a removed member.
   */
  private async find(idOrName: string): Promise<Member> {
    const timeoutMs = this.changeTimeoutMs;
    await this.store.get(lastCheckKey, { consistency: { kind: 'quorum' }, timeoutMs });
    const { voters, learners } = this.members();
    const member = [...voters, ...learners].find(
      ({ id, name }) => id === idOrName || name === idOrName,
    );
    if (member) return member;
    throw new StatusError({
      code: 404,
      reason: 'NotFound',
      message: `the cluster has no member ${JSON.stringify(idOrName)}`,
    });
  }
}

function hashView({ member, facts, error }: ReplicaStatus, revision: number): MemberHash {
  const { id, name } = member;
  if (facts?.checkedRevision === revision) return { id, name, hash: String(facts.contentHash) };
  return { id, name, reason: error ?? 'has not hashed this revision yet' };
}

function memberView(
  { member, status, facts, error }: ReplicaStatus,
  { learners }: Configuration,
): MemberView {
  const isLearner = learners.some(({ id }) => id === member.id);
  const role = isLearner ? 'learner' : status?.role === 'leader' ? 'leader' : 'follower';
  const reason = error ?? status?.unavailableReason;
  return {
    id: member.id,
    name: member.name,
    role,
    peerUrl: member.peerUrl,
    clientUrl: member.clientUrl,
    healthy: status !== undefined && reason === undefined,
    ...(reason !== undefined && { reason }),
    ...(status && {
      term: status.term,
      commitIndex: status.commitIndex,
      appliedIndex: status.appliedIndex,
      firstIndex: status.firstIndex,
      lastIndex: status.lastIndex,
      dbSizeBytes: status.sizeBytes,
    }),
    ...facts,
  };
}

async function asStatus<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof MembershipError) throw statusOf(error);
    throw error;
  }
}

function statusOf(error: MembershipError): StatusError {
  const { code, message } = error;
  switch (code) {
    case 'UnknownMember':
      return new StatusError({ code: 404, reason: 'NotFound', message });
    case 'DuplicateMember':
      return new StatusError({ code: 409, reason: 'AlreadyExists', message });
    case 'ChangePending':
      return new StatusError({ code: 409, reason: 'Conflict', message });
    case 'LastVoter':
    case 'LearnerLags':
    case 'NotVoter':
    case 'TargetLags':
    case 'WouldLoseQuorum':
      return new StatusError({ code: 422, reason: 'Invalid', message });
    case 'OutcomeUnknown':
    case 'TimedOut':
      return new StatusError({ code: 504, reason: 'Timeout', message });
    case 'NotLeader':
    case 'Stopped':
      return serviceUnavailable(message, 1);
  }
}
