/** The state at any revision, replayed from the log of commits. */
import type { LoggedEvent, Version, Violation } from './history.js';

interface KeyVersion {
  readonly revision: number;
  /** Undefined: deleted. */
  readonly value: string | undefined;
}

export class ReplayedState {
  readonly lastRevision: number;
  private readonly versions = new Map<string, KeyVersion[]>();
  private readonly byValue = new Map<string, LoggedEvent[]>();
  private readonly keys: readonly string[];

  /** `log` in order of revisions, complete from `firstRevision` on. */
  constructor(readonly log: readonly LoggedEvent[]) {
    for (const event of log) {
      const { key, revision, kind, value } = event;
      push(this.versions, key, { revision, value: kind === 'put' ? value : undefined });
      if (kind === 'put') push(this.byValue, value, event);
    }
    this.keys = [...this.versions.keys()].sort();
    this.lastRevision = log.at(-1)?.revision ?? 0;
  }

  at(key: string, revision: number): Version | undefined {
    const found = this.versions.get(key)?.[this.countUpTo(key, revision) - 1];
    if (found?.value === undefined) return undefined;
    return { key, value: found.value, revision: found.revision };
  }

  /**
   * Was the key's version of `version` (undefined: none) the present one at `revision` or later?
   */
  wasThereSince(key: string, version: number | undefined, revision: number): boolean {
    const versions = this.versions.get(key) ?? [];
    if (version === undefined) {
      return !this.at(key, revision) || this.isDeletedAfter(key, revision);
    }
    const next = versions[this.countUpTo(key, version)];
    return next === undefined || next.revision > revision;
  }

  private isDeletedAfter(key: string, afterRevision: number): boolean {
    const versions = this.versions.get(key) ?? [];
    for (let at = this.countUpTo(key, afterRevision); at < versions.length; at += 1) {
      if (versions[at]!.value === undefined) return true;
    }
    return false;
  }

  /** How many versions of a key there were up to and with this revision. */
  private countUpTo(key: string, revision: number): number {
    const versions = this.versions.get(key) ?? [];
    let low = 0;
    let high = versions.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (versions[middle]!.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Keys that start with `prefix`, in order. */
  list(prefix: string, revision: number): Version[] {
    return this.keys
      .filter((key) => key.startsWith(prefix))
      .flatMap((key) => this.at(key, revision) ?? []);
  }

  /** Where a content was put; one place at most in a store that applies a command once. */
  puts(value: string): readonly LoggedEvent[] {
    return this.byValue.get(value) ?? [];
  }

  eventsAfter(revision: number, prefix: string, upTo: number): LoggedEvent[] {
    return this.log
      .slice(this.position(revision + 1), this.position(upTo + 1))
      .filter(({ key }) => key.startsWith(prefix));
  }

  /** Returns the position of the first event at `revision` or later. */
  private position(revision: number): number {
    let low = 0;
    let high = this.log.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.log[middle]!.revision < revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Revisions grow by one with each commit. */
  gaps(firstRevision: number): Violation[] {
    const violations: Violation[] = [];
    let last = firstRevision - 1;
    for (const { revision } of this.log) {
      if (revision !== last && revision !== last + 1) {
        violations.push({ rule: 'revisions', detail: `${revision} follows ${last} in the log` });
      }
      last = revision;
    }
    return violations;
  }
}

function push<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}
