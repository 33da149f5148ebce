/**
 * Decides which peers this replica accepts, and whether it may take part itself.
 *
 * Invariants: a member id belongs to one directory. Its storage id is recorded durably before two
 * members accept each other, so that every member that has met a directory detects that it was
 * wiped. A new directory of an initial cluster does not vote or acknowledge before it has met every
 * other initial member: one of them would know the promises of an earlier directory. Only a replica
 * that has seen a member leave a committed configuration reports it as removed: a log that is
 * behind does not contain later members.
 */
import type { Logger } from '@orch/component';
import { membersOf } from '../../core/configuration/members.js';
import type { Configuration, MemberId } from '../../core/types.js';
import { LogError } from '../../replicated-log.js';
import type { LogStore } from '../../storage/log-store.js';
import { type Identity, removedMark } from '../../storage/stored-log.js';
import {
  type Greeting,
  type GreetingAnswer,
  wireProtocolVersion,
} from '../../transport/transport.js';

export interface AdmissionDependencies {
  readonly identity: Identity;
  readonly store: Pick<LogStore, 'notePeer' | 'noteAdmitted'>;
  readonly logger: Logger;
  /** storageId of each peer as first met, from the directory. */
  readonly peers: ReadonlyMap<MemberId, string>;
  readonly admitted: boolean;
  /** As of the last applied entry; `committed` adds later ones. */
  readonly appliedConfiguration: Configuration | undefined;
  /** In effect, and the newest that is committed. */
  readonly configurations: () => {
    readonly latest: Configuration;
    readonly committed: Configuration;
  };
  readonly onAdmitted: () => void;
  /** This replica can never take part: ends the process. */
  readonly onExcluded: (error: LogError) => void;
  readonly onFailed: (what: string, error: unknown) => void;
}

export class Admission {
  private readonly peers: Map<MemberId, string>;
  /** Being written. */
  private readonly noting = new Map<MemberId, Promise<boolean>>();
  /** Welcome on both sides since this process began. */
  private readonly met = new Set<MemberId>();
  /** Peers that say that they are of another cluster. */
  private readonly foreignIds = new Set<MemberId>();
  /** Members of the last committed configuration. */
  private members: ReadonlySet<MemberId>;
  private isAdmitted: boolean;
  private admitting = false;

  constructor(private readonly dependencies: AdmissionDependencies) {
    this.peers = new Map(dependencies.peers);
    // Who is not a voter in it may have it from the day on which it joined: its log is older.
    const { voters = [] } = dependencies.appliedConfiguration ?? {};
    const isVoter = voters.some(({ id }) => id === dependencies.identity.memberId);
    this.members = isVoter ? idsOf(dependencies.appliedConfiguration!) : new Set();
    this.isAdmitted = dependencies.admitted;
  }

  get admitted(): boolean {
    return this.isAdmitted;
  }

  get foreign(): ReadonlySet<MemberId> {
    return this.foreignIds;
  }

  greeting(): Greeting {
    const { clusterId, memberId, storageId } = this.dependencies.identity;
    const fresh = !this.isAdmitted;
    return { clusterId, memberId, storageId, protocolVersion: wireProtocolVersion, fresh };
  }

  /** The response to a peer that connects. */
  answer(greeting: Greeting): GreetingAnswer | Promise<GreetingAnswer> {
    const { memberId, storageId, clusterId } = greeting;
    const { identity, logger, configurations } = this.dependencies;
    if (clusterId !== identity.clusterId) {
      logger.warn({ peer: memberId, clusterId }, 'refused a peer of another cluster');
      return { kind: 'wrongCluster', clusterId: identity.clusterId };
    }
    if (memberId === identity.memberId) {
      logger.error({ storageId }, 'refused a second replica under the id of this one');
      return { kind: 'wrongStorage' };
    }
    const known = this.peers.get(memberId);
    if (known === removedMark) return { kind: 'unknownMember', removed: true };
    if (known === storageId) return { kind: 'welcome', greeting: this.greeting() };
    if (known !== undefined) {
      logger.error(
        { peer: memberId, storageId, known },
        'refused a peer whose directory was wiped',
      );
      return { kind: 'wrongStorage' };
    }
    const { latest, committed } = configurations();
    if (!isMember(committed, memberId) && !isMember(latest, memberId)) {
      // It may have been added by entries that have not come here yet.
      return { kind: 'welcome', greeting: this.greeting() };
    }
    return this.note(memberId, storageId).then((same) =>
      same ? { kind: 'welcome', greeting: this.greeting() } : { kind: 'wrongStorage' },
    );
  }

  /** Handles the response of a peer to our greeting. */
  answered(peer: MemberId, answer: GreetingAnswer): void {
    const { identity, logger, onExcluded } = this.dependencies;
    if (answer.kind === 'welcome') {
      this.foreignIds.delete(peer);
      void this.welcomed(peer, answer.greeting.storageId);
      return;
    }
    if (answer.kind === 'wrongCluster') {
      this.foreignIds.add(peer);
      logger.error({ peer, clusterId: answer.clusterId }, 'a peer belongs to another cluster');
      return;
    }
    if (answer.kind === 'wrongStorage') {
      onExcluded(
        new LogError(
          'BadDirectory',
          `member ${peer} knows member ${identity.memberId} with another data directory, so this one was wiped or copied: remove the member, then add it again with an empty directory`,
        ),
      );
      return;
    }
    if (answer.removed) {
      onExcluded(
        new LogError(
          'Removed',
          `member ${identity.memberId} was removed from cluster ${identity.clusterId}: to restore it, empty its data directory and add it again`,
        ),
      );
      return;
    }
    logger.warn({ peer }, 'a peer does not know this member yet');
  }

  /**
   * Handles a committed configuration: a former member that it does not list is removed for good.
   */
  committed(configuration: Configuration): void {
    const members = idsOf(configuration);
    for (const id of this.members) {
      if (!members.has(id) && id !== this.dependencies.identity.memberId) void this.noteRemoved(id);
    }
    this.members = members;
  }

  /** Names of the members that a new replica has not met yet. */
  missing(): string[] {
    if (this.isAdmitted) return [];
    return this.others()
      .filter(({ id }) => !this.met.has(id))
      .map(({ name }) => name);
  }

  private async welcomed(peer: MemberId, storageId: string): Promise<void> {
    const known = this.peers.get(peer);
    if (known === removedMark) return;
    const same = known === undefined ? await this.note(peer, storageId) : known === storageId;
    if (!same) {
      this.dependencies.logger.error({ peer, storageId }, 'a peer responds from a wiped directory');
      return;
    }
    this.met.add(peer);
    if (this.isAdmitted || this.admitting || this.missing().length > 0) return;
    this.admitting = true;
    try {
      await this.dependencies.store.noteAdmitted();
    } catch (error) {
      this.dependencies.onFailed('noting that this replica takes part failed', error);
      return;
    }
    this.isAdmitted = true;
    this.dependencies.logger.info(
      { members: this.others().length + 1 },
      'met all members, taking part',
    );
    this.dependencies.onAdmitted();
  }

  /**
   * False when the id goes with another directory. At a failed write the process ends, and this
   * never settles.
   */
  private async note(peer: MemberId, storageId: string): Promise<boolean> {
    // Two greetings of one peer may cross: the first one counts.
    const running = this.noting.get(peer);
    if (running) {
      await running;
      return this.peers.get(peer) === storageId;
    }
    const noting = this.write(peer, storageId);
    this.noting.set(peer, noting);
    const noted = await noting;
    this.noting.delete(peer);
    return noted;
  }

  private async noteRemoved(peer: MemberId): Promise<void> {
    await this.noting.get(peer);
    await this.write(peer, removedMark);
  }

  private async write(peer: MemberId, storageId: string): Promise<boolean> {
    try {
      await this.dependencies.store.notePeer(peer, storageId);
    } catch (error) {
      this.dependencies.onFailed('noting the directory of a peer failed', error);
      // The process ends. Until then the peer gets no response: any decision would be a guess.
      return new Promise(() => undefined);
    }
    this.peers.set(peer, storageId);
    return true;
  }

  private others() {
    const { identity, configurations } = this.dependencies;
    return membersOf(configurations().latest).filter(({ id }) => id !== identity.memberId);
  }
}

function idsOf(configuration: Configuration): Set<MemberId> {
  return new Set(membersOf(configuration).map(({ id }) => id));
}

function isMember(configuration: Configuration, id: MemberId): boolean {
  return membersOf(configuration).some((member) => member.id === id);
}
