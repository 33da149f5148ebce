/**
 * Keeps the revisions of stateful sets and daemon sets: adopts them, finds or creates the revision
 * of the present template, and deletes old ones beyond the history limit.
 */
import { isControlledBy } from '@orch/apimachinery';
import {
  type Informer,
  isAlreadyExists,
  isNotFound,
  type KnownResource,
  type ResourceClient,
  resources,
} from '@orch/client';
import type { ControllerRevision } from '@orch/types/apps/v1';
import { limits } from '../limits.js';
import { claim } from './claimer.js';
import type { ControllerContext } from './controller.js';
import { claimCandidates, indexDependents } from './dependents.js';
import { ignoring } from './expected-errors.js';
import {
  expiredRevisions,
  inOrder,
  newRevision,
  numberOf,
  type RevisionOwner,
  sameData,
} from './revisions.js';
import { selectorOf } from './selectors.js';

const historyLimitDefault = 10;

/** The revision of the present template among all revisions of its owner. */
export interface RevisionState {
  readonly update: ControllerRevision;
  /** All revisions with `update`, oldest first. */
  readonly all: readonly ControllerRevision[];
  /** Name collisions so far, to store in the status. */
  readonly collisionCount: number;
}

export function historyLimitOf(owner: RevisionOwner): number {
  return owner.spec?.revisionHistoryLimit ?? historyLimitDefault;
}

export class RevisionHistory<T extends RevisionOwner> {
  private readonly revisions: Informer<ControllerRevision>;

  /** @param hashLabel the label of revisions that holds the hash of their data. */
  constructor(
    private readonly context: ControllerContext,
    private readonly ownerResource: KnownResource<T>,
    private readonly hashLabel: string,
  ) {
    this.revisions = context.informers.informer(resources.controllerRevisions);
    indexDependents(this.revisions);
  }

  /** Adopts and releases revisions. @returns those of `owner`, oldest first. */
  async claim(owner: T): Promise<ControllerRevision[]> {
    const claimed = await claim({
      client: this.context.client,
      owner,
      ownerResource: this.ownerResource,
      selector: selectorOf(owner),
      dependentResource: resources.controllerRevisions,
      candidates: claimCandidates(this.revisions, owner),
    });
    return inOrder(claimed);
  }

  /**
   * Finds the revision of the template, or creates it. An older revision with the same template
   * gets the next number.
   */
  async sync(owner: T, revisions: readonly ControllerRevision[]): Promise<RevisionState> {
    const collisionCount = owner.status?.collisionCount ?? 0;
    const number = Math.max(0, ...revisions.map(numberOf)) + 1;
    const wanted = newRevision(owner, number, collisionCount, this.hashLabel);
    const equal = revisions.filter((revision) => sameData(revision, wanted)).at(-1);
    if (!equal) return this.create(owner, number, revisions);
    if (equal === revisions.at(-1)) return { update: equal, all: revisions, collisionCount };
    const update = await this.clientFor(owner).replace({ ...equal, revision: number });
    const others = revisions.filter((revision) => revision !== equal);
    return { update, all: [...others, update], collisionCount };
  }

  /** Deletes revisions that are not live, except for the newest `limit`. */
  async prune(
    owner: T,
    revisions: readonly ControllerRevision[],
    isLive: (revision: ControllerRevision) => boolean,
    limit: number,
  ): Promise<void> {
    for (const { metadata } of expiredRevisions(revisions, isLive, limit)) {
      const { name = '', uid } = metadata ?? {};
      await ignoring(this.clientFor(owner).delete(name, { preconditions: { uid } }), isNotFound);
    }
  }

  /** If another object has the name, the collision count grows and chooses another one. */
  private async create(
    owner: T,
    number: number,
    revisions: readonly ControllerRevision[],
  ): Promise<RevisionState> {
    const first = owner.status?.collisionCount ?? 0;
    for (let count = first; count < first + limits.revisionNameAttemptCountMax; count++) {
      const wanted = newRevision(owner, number, count, this.hashLabel);
      const update = await this.createOrFind(owner, wanted);
      if (update) return { update, all: inOrder([...revisions, update]), collisionCount: count };
    }
    const name = owner.metadata?.name;
    throw new Error(
      `${name} has no revision: ${limits.revisionNameAttemptCountMax} names are taken`,
    );
  }

  /** @returns undefined if the name belongs to another revision. */
  private async createOrFind(
    owner: T,
    wanted: ControllerRevision,
  ): Promise<ControllerRevision | undefined> {
    const created = await ignoring(this.clientFor(owner).create(wanted), isAlreadyExists);
    if (created) return created;
    const existing = await this.clientFor(owner).get(wanted.metadata?.name ?? '');
    // Created by an earlier reconciliation; the cache has not seen it yet.
    return isControlledBy(existing, owner) && sameData(existing, wanted) ? existing : undefined;
  }

  private clientFor(owner: T): ResourceClient<ControllerRevision> {
    return this.context.client.resource(resources.controllerRevisions, owner.metadata?.namespace);
  }
}
