/**
 * What operators see and change of the cluster of replicas: its members, their leader, their state.
 * Any replica answers; changes are passed on to the leader by the log. With an external store there
 * are no replicas to speak of, and everything here is refused.
 */
import { randomBytes } from 'node:crypto';
import { StatusError, serviceUnavailable } from '@orch/apimachinery';
import { type Clock, sleep } from '@orch/component';
import {
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
  /** It answered in time; the fields below are there only then. */
  readonly healthy: boolean;
  /** Why it is not healthy, or what it cannot do now. */
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
  /** Absent: it did not say in time, `reason` says why. */
  readonly hash?: string;
  readonly reason?: string;
}

export interface ClusterCheck {
  readonly consistent: boolean;
  readonly revision: number;
  readonly members: readonly MemberHash[];
}

const checkPollMs = 100;
/** How long the other replicas may take to say how they are. */
const statusTimeoutMs = 2_000;

export class ClusterOperations {
  constructor(
    private readonly log: ReplicatedLog,
    readonly store: ReplicatedStore,
    private readonly clock: Clock,
    /** For changes of members and of the leader. */
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
    const member: Member = { id: randomBytes(8).toString('hex'), name, peerUrl, clientUrl };
    await this.change({ kind: 'addLearner', member });
    return member;
  }

  async removeMember(idOrName: string): Promise<Configuration> {
    return this.change({ kind: 'remove', id: this.find(idOrName).id });
  }

  async promote(idOrName: string): Promise<Configuration> {
    return this.change({ kind: 'promote', id: this.find(idOrName).id });
  }

  /** To the most up-to-date voter when none is named. */
  async moveLeader(idOrName: string | undefined, timeoutMs = this.changeTimeoutMs): Promise<void> {
    const to = idOrName === undefined ? undefined : this.find(idOrName).id;
    await asStatus(this.log.transferLeadership(to, this.clock.monotonicMs() + timeoutMs));
  }

  /** Tells the cluster where this replica is reached, when that is not what it knows. Throws StatusError. */
  async announce(): Promise<void> {
    const { self, configuration } = this.log.status();
    const { voters, learners } = configuration;
    const known = [...voters, ...learners].find(({ id }) => id === self.id);
    if (!known) return;
    const { clientUrl, peerUrl } = self;
    if (known.clientUrl === clientUrl && known.peerUrl === peerUrl) return;
    await this.change({ kind: 'update', member: { ...known, clientUrl, peerUrl } });
  }

  /** This replica leads, and there is another voter who could. */
  leadsOthers(): boolean {
    const { role, configuration } = this.log.status();
    return role === 'leader' && configuration.voters.length > 1;
  }

  /** Every replica hashes all that it has at one revision: equal when nothing has gone astray. */
  async check(): Promise<ClusterCheck> {
    const bytes = Buffer.from(JSON.stringify({ at: new Date(this.clock.nowMs()).toISOString() }));
    const { revision } = await this.store.commit(
      [{ kind: 'put', key: `${checkPrefix}last`, bytes }],
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

  private find(idOrName: string): Member {
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
