/**
 * Whom this replica talks to, and whether it may take part itself.
 *
 * Invariants: a member id goes with one directory for ever. Which one is noted durably before the two are
 * welcome to each other, so that a wiped directory is found out by everyone it has met. A fresh directory
 * of an initial cluster votes and acknowledges nothing before it has met every other initial member: what
 * it has once promised, under an earlier directory, one of them would know. Only who has seen a member
 * leave a committed configuration says that it was removed: a log that is still behind knows nothing of
 * members that came later.
 */
import type { Logger } from '@orch/component';
import type { Configuration, MemberId } from '../core/types.js';
import { LogError } from '../replicated-log.js';
import { type Identity, type LogStore, REMOVED } from '../storage/log-store.js';
import { type Greeting, type GreetingAnswer, PROTOCOL_VERSION } from '../transport/transport.js';
import { membersOf } from './members.js';

export interface AdmissionParts {
  readonly identity: Identity;
  readonly store: Pick<LogStore, 'notePeer' | 'noteAdmitted'>;
  readonly logger: Logger;
  /** storageId of each peer as first met, from the directory. */
  readonly peers: ReadonlyMap<MemberId, string>;
  readonly admitted: boolean;
  /** As of the last entry that was applied: `committed` is told of those after it. */
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
  readonly #peers: Map<MemberId, string>;
  /** Under way to the disk. */
  readonly #noting = new Map<MemberId, Promise<boolean>>();
  /** Welcome on both sides since this process began. */
  readonly #met = new Set<MemberId>();
  /** Peers that say that they are of another cluster. */
  readonly #foreign = new Set<MemberId>();
  /** Of the committed configuration that was seen last. */
  #members: ReadonlySet<MemberId>;
  #admitted: boolean;
  #admitting = false;

  constructor(private readonly parts: AdmissionParts) {
    this.#peers = new Map(parts.peers);
    // Who is not a voter in it may have it from the day on which it joined: its log is older.
    const { voters = [] } = parts.appliedConfiguration ?? {};
    const isVoter = voters.some(({ id }) => id === parts.identity.memberId);
    this.#members = isVoter ? idsOf(parts.appliedConfiguration!) : new Set();
    this.#admitted = parts.admitted;
  }

  get admitted(): boolean {
    return this.#admitted;
  }

  get foreign(): ReadonlySet<MemberId> {
    return this.#foreign;
  }

  greeting(): Greeting {
    const { clusterId, memberId, storageId } = this.parts.identity;
    const fresh = !this.#admitted;
    return { clusterId, memberId, storageId, protocolVersion: PROTOCOL_VERSION, fresh };
  }

  /** The answer to a peer that connects. */
  answer(greeting: Greeting): GreetingAnswer | Promise<GreetingAnswer> {
    const { memberId, storageId, clusterId } = greeting;
    const { identity, logger, configurations } = this.parts;
    if (clusterId !== identity.clusterId) {
      logger.warn({ peer: memberId, clusterId }, 'refused a peer of another cluster');
      return { kind: 'wrongCluster', clusterId: identity.clusterId };
    }
    if (memberId === identity.memberId) {
      logger.error({ storageId }, 'refused a second replica under the id of this one');
      return { kind: 'wrongStorage' };
    }
    const known = this.#peers.get(memberId);
    if (known === REMOVED) return { kind: 'unknownMember', removed: true };
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
    return this.#note(memberId, storageId).then((same) =>
      same ? { kind: 'welcome', greeting: this.greeting() } : { kind: 'wrongStorage' },
    );
  }

  /** What a peer has answered to our greeting. */
  answered(peer: MemberId, answer: GreetingAnswer): void {
    const { identity, logger, onExcluded } = this.parts;
    if (answer.kind === 'welcome') {
      this.#foreign.delete(peer);
      void this.#welcomed(peer, answer.greeting.storageId);
      return;
    }
    if (answer.kind === 'wrongCluster') {
      this.#foreign.add(peer);
      logger.error({ peer, clusterId: answer.clusterId }, 'a peer belongs to another cluster');
      return;
    }
    if (answer.kind === 'wrongStorage') {
      onExcluded(
        new LogError(
          'BadDirectory',
          `member ${peer} knows member ${identity.memberId} with another data directory, so this one was wiped or copied: remove the member, add it anew with an empty directory`,
        ),
      );
      return;
    }
    if (answer.removed) {
      onExcluded(
        new LogError(
          'Removed',
          `member ${identity.memberId} was removed from cluster ${identity.clusterId}: to bring it back, empty its data directory and add it anew`,
        ),
      );
      return;
    }
    logger.warn({ peer }, 'a peer does not know this member yet');
  }

  /** This configuration is committed: whoever was a member before and is none now is gone for ever. */
  committed(configuration: Configuration): void {
    const members = idsOf(configuration);
    for (const id of this.#members) {
      if (!members.has(id) && id !== this.parts.identity.memberId) void this.#noteRemoved(id);
    }
    this.#members = members;
  }

  /** Names of those that a fresh replica has still to meet. */
  missing(): string[] {
    if (this.#admitted) return [];
    return this.#others()
      .filter(({ id }) => !this.#met.has(id))
      .map(({ name }) => name);
  }

  async #welcomed(peer: MemberId, storageId: string): Promise<void> {
    const known = this.#peers.get(peer);
    if (known === REMOVED) return;
    const same = known === undefined ? await this.#note(peer, storageId) : known === storageId;
    if (!same) {
      this.parts.logger.error({ peer, storageId }, 'a peer answers from a wiped directory');
      return;
    }
    this.#met.add(peer);
    if (this.#admitted || this.#admitting || this.missing().length > 0) return;
    this.#admitting = true;
    try {
      await this.parts.store.noteAdmitted();
    } catch (error) {
      this.parts.onFailed('noting that this replica takes part failed', error);
      return;
    }
    this.#admitted = true;
    this.parts.logger.info({ members: this.#others().length + 1 }, 'met all members, taking part');
    this.parts.onAdmitted();
  }

  /** False when the id goes with another directory. At a failed write the process ends, and this never settles. */
  async #note(peer: MemberId, storageId: string): Promise<boolean> {
    // Two greetings of one peer may cross: the first one counts.
    const running = this.#noting.get(peer);
    if (running) {
      await running;
      return this.#peers.get(peer) === storageId;
    }
    const noting = this.#write(peer, storageId);
    this.#noting.set(peer, noting);
    const noted = await noting;
    this.#noting.delete(peer);
    return noted;
  }

  async #noteRemoved(peer: MemberId): Promise<void> {
    await this.#noting.get(peer);
    await this.#write(peer, REMOVED);
  }

  async #write(peer: MemberId, storageId: string): Promise<boolean> {
    try {
      await this.parts.store.notePeer(peer, storageId);
    } catch (error) {
      this.parts.onFailed('noting the directory of a peer failed', error);
      // The process ends. Until it does, the peer hears nothing: any verdict would be a guess.
      return new Promise(() => undefined);
    }
    this.#peers.set(peer, storageId);
    return true;
  }

  #others() {
    const { identity, configurations } = this.parts;
    return membersOf(configurations().latest).filter(({ id }) => id !== identity.memberId);
  }
}

function idsOf(configuration: Configuration): Set<MemberId> {
  return new Set(membersOf(configuration).map(({ id }) => id));
}

function isMember(configuration: Configuration, id: MemberId): boolean {
  return membersOf(configuration).some((member) => member.id === id);
}
