/**
 * The watches of a run: two witnesses of each server, one per kind, that record the events of that
 * server; roamers, which resume on another server each time, some of them with a selector; and
 * watches that a scenario opens.
 */
import type { Member } from '../support/chaos-cluster.js';
import type { Random } from '../support/random.js';
import { eventually } from '../support/wait.js';
import { resources } from './keys.js';
import type { LoadTarget } from './load-target.js';
import type { Notes } from './notes.js';
import { type Selector, selectors } from './selectors.js';
import { Watcher } from './watcher.js';

const roamMs = { from: 2_000, to: 9_000 };
const catchUpTimeoutMs = 90_000;

export class Watchers {
  readonly witnesses: Watcher[] = [];
  readonly roamers: Watcher[] = [];
  /** Watches of a scenario, which ends them. */
  readonly passing: Watcher[] = [];
  /** Witnesses that `reach` does not wait for. */
  private readonly gone = new Set<Watcher>();

  constructor(
    private readonly authorityPem: string,
    private readonly notes: Notes,
    private readonly random: Random,
    private readonly anyTarget: () => LoadTarget | undefined,
  ) {}

  get all(): readonly Watcher[] {
    return [...this.witnesses, ...this.roamers, ...this.passing];
  }

  /** Number of new lists of roamers because history was gone. */
  get relists(): number {
    return this.roamers.reduce((sum, { relists }) => sum + relists, 0);
  }

  /** The highest revision that any witness has seen. */
  get revisionSeen(): number {
    return Math.max(0, ...this.witnesses.map((witness) => witness.revisionSeen));
  }

  /** `plainCount`: number of roamers without a selector; each selector has one per kind. */
  start(members: readonly Member[], plainCount: number, afterRevision: number): void {
    for (const member of members) this.witness(member, afterRevision);
    for (let at = 0; at < plainCount; at += 1) {
      this.roam(`roamer${at}`, resources[at % resources.length]!, undefined, afterRevision);
    }
    for (const selector of selectors) {
      for (const resource of resources) {
        this.roam(`roamer of ${selector.text}`, resource, selector, afterRevision);
      }
    }
  }

  /** Starts the witnesses of one server from `afterRevision`. */
  witness(member: Member, afterRevision: number): void {
    for (const resource of resources) {
      const next = () => (member.process.isRunning ? member : undefined);
      const watcher = new Watcher(
        { id: witnessId(member), resource, next },
        this.authorityPem,
        this.notes,
      );
      this.witnesses.push(watcher);
      watcher.start(afterRevision);
    }
  }

  /** The server was removed: its earlier events count, later ones are not expected. */
  forget(member: Member): void {
    for (const witness of this.witnesses) {
      if (witness.options.id === witnessId(member)) this.gone.add(witness);
    }
  }

  /** Opens a watch on any server, from a revision that may be compacted or in the future. */
  watchFrom(afterRevision: number): Watcher {
    const id = `passing${this.passing.length}`;
    const resource = this.random.pick(resources);
    const watcher = new Watcher(
      { id, resource, next: this.anyTarget },
      this.authorityPem,
      this.notes,
    );
    this.passing.push(watcher);
    watcher.start(afterRevision);
    return watcher;
  }

  /** Waits until all watches of this kind have received every event up to `revision`. */
  async reach(resource: string, revision: number): Promise<void> {
    for (const watcher of [...this.witnesses, ...this.roamers]) {
      if (watcher.options.resource !== resource || this.gone.has(watcher)) continue;
      await eventually(
        `${watcher.options.id} on ${resource} at ${watcher.revisionSeen} to reach ${revision}`,
        catchUpTimeoutMs,
        () => watcher.hasReached(revision),
      );
    }
  }

  async stop(): Promise<void> {
    await Promise.all([...this.witnesses, ...this.roamers].map((watcher) => watcher.stop()));
  }

  private roam(
    id: string,
    resource: string,
    selector: Selector | undefined,
    afterRevision: number,
  ): void {
    const leaveAfterMs = () => this.random.between(roamMs.from, roamMs.to);
    const roamer = new Watcher(
      { id, resource, selector, next: this.anyTarget, leaveAfterMs },
      this.authorityPem,
      this.notes,
    );
    this.roamers.push(roamer);
    roamer.start(afterRevision);
  }
}

function witnessId({ name }: Member): string {
  return `witness of ${name}`;
}
