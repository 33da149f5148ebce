/**
 * Checks that the log of commits explains all observations of the clients. Revisions give one total
 * order, so that linearizability needs no search: every acknowledged write is at its revision,
 * once; no refused write is in the log; every logged change was requested; the order of revisions
 * fits the order of time. A write without a response may be in the log or not.
 */
import type { LoggedEvent, ReadRecord, Version, Violation, WriteRecord } from './history.js';
import { ReplayedState } from './replayed-state.js';

export interface HistoryToCheck {
  readonly state: ReplayedState;
  readonly writes: readonly WriteRecord[];
  readonly reads: readonly ReadRecord[];
  /** Revision of the log's first commit. */
  readonly firstRevision?: number;
  /** The log has some keys only; changes of other keys have revisions in between. */
  readonly sharesRevisions?: boolean;
  /** Keys that expire (time to live): their deletions need no client. */
  readonly expires?: (key: string) => boolean;
  /** Keys that other programs write: their events need no record. */
  readonly ignores?: (key: string) => boolean;
}

export function checkHistory(history: HistoryToCheck): Violation[] {
  const { state, firstRevision = 1, sharesRevisions = false } = history;
  return [
    ...(sharesRevisions ? [] : state.gaps(firstRevision)),
    ...checkWrites(history),
    ...checkOrigins(history),
    ...checkReads(history),
    ...checkTimeOrder(history),
  ];
}

function checkWrites({ state, writes }: HistoryToCheck): Violation[] {
  const violations: Violation[] = [];
  const fault = (rule: string, write: WriteRecord, detail: string) =>
    violations.push({ rule, detail: `${detail}: ${describe(write)}` });
  for (const write of writes) {
    const { outcome } = write;
    for (const operation of write.operations) {
      if (operation.kind !== 'put') continue;
      const places = state.puts(operation.value);
      if (places.length > 1) fault('applied twice', write, revisions(places));
      if (outcome.kind === 'applied' && places[0]?.revision !== outcome.revision) {
        fault('acknowledged write lost', write, `found at ${revisions(places) || 'no revision'}`);
      }
      if ((outcome.kind === 'refused' || outcome.kind === 'conflict') && places.length > 0) {
        fault('refused write applied', write, revisions(places));
      }
    }
    const at = appliedAt(write, state);
    if (at !== undefined) {
      for (const { key, expect } of write.operations) {
        if (expect === undefined || holds(expect, state.at(key, at - 1))) continue;
        // A write that changed nothing (the deletion of an absent key) saw the revision that it
        // names.
        if (!putsSomething(write) && holds(expect, state.at(key, at))) continue;
        fault('expectation broken', write, `${key} before ${at}`);
      }
    }
    if (outcome.kind === 'conflict' && outcome.revision !== undefined) {
      const { key, expect } = write.operations[outcome.operation]!;
      const current = state.at(key, outcome.revision);
      if (!sameVersion(current, outcome.current)) {
        fault('conflict with an absent version', write, `${show(current)} was stored`);
      } else if (expect === undefined || holds(expect, current)) {
        fault('conflict without cause', write, show(current));
      }
    }
  }
  return violations;
}

/** Every event of the log has a write that requested it. */
function checkOrigins({ state, writes, expires, ignores }: HistoryToCheck): Violation[] {
  const violations: Violation[] = [];
  const asked = new Set<string>();
  const deleted = new Set<string>();
  const openDeletions = new Map<string, number>();
  for (const { operations, outcome } of writes) {
    if (outcome.kind === 'refused' || outcome.kind === 'conflict') continue;
    for (const operation of operations) {
      const { key } = operation;
      if (operation.kind === 'put') asked.add(`${key}=${operation.value}`);
      else if (outcome.kind === 'applied') deleted.add(`${key}@${outcome.revision}`);
      else openDeletions.set(key, (openDeletions.get(key) ?? 0) + 1);
    }
  }
  for (const { kind, key, value, revision } of state.log) {
    if (ignores?.(key)) continue;
    if (kind === 'put') {
      if (!asked.has(`${key}=${value}`)) {
        violations.push({ rule: 'write from nowhere', detail: `${key}=${value} at ${revision}` });
      }
      continue;
    }
    if (deleted.has(`${key}@${revision}`) || expires?.(key)) continue;
    const open = openDeletions.get(key) ?? 0;
    if (open > 0) openDeletions.set(key, open - 1);
    else violations.push({ rule: 'deletion from nowhere', detail: `${key} at ${revision}` });
  }
  return violations;
}

function checkReads({ state, reads }: HistoryToCheck): Violation[] {
  const violations: Violation[] = [];
  for (const read of reads) {
    const { revision, key, isList, found, consistency } = read;
    const fault = (rule: string, detail: string) =>
      violations.push({ rule, detail: `${detail}: ${describeRead(read)}` });
    if (revision === undefined) {
      for (const version of found) {
        if (!sameVersion(state.at(version.key, version.revision), version)) {
          fault('read of what never was', show(version));
        }
      }
      continue;
    }
    if (revision > state.lastRevision) {
      fault('read from the future', `the log ends at ${state.lastRevision}`);
      continue;
    }
    const expected = isList ? state.list(key, revision) : [state.at(key, revision) ?? []].flat();
    if (JSON.stringify(expected.map(show)) !== JSON.stringify(found.map(show))) {
      fault('read differs from the replayed state', expected.map(show).join(' '));
    }
    if (consistency.kind === 'notOlderThan' && revision < consistency.revision) {
      fault('read older than requested', `${consistency.revision} was requested`);
    }
    if (consistency.kind === 'exact' && revision !== consistency.revision) {
      fault('read not of the requested revision', `${consistency.revision} was requested`);
    }
  }
  return violations;
}

interface Moment {
  readonly startedAt: number;
  readonly endedAt: number;
  /** The revision that the call saw or created. */
  readonly revision: number;
  readonly isWrite: boolean;
  /** A read of one key without a revision: confirms only the version that it found. */
  readonly get?: ReadRecord;
  readonly describe: () => string;
}

/**
 * A call that starts after another ended sees at least its revision; a later write has a later one.
 */
function checkTimeOrder({ state, writes, reads }: HistoryToCheck): Violation[] {
  const moments: Moment[] = [];
  for (const write of writes) {
    const { outcome, startedAt, endedAt } = write;
    if (outcome.kind === 'applied' && endedAt !== undefined) {
      const { revision } = outcome;
      const isWrite = putsSomething(write);
      moments.push({ startedAt, endedAt, revision, isWrite, describe: () => describe(write) });
    } else if (outcome.kind === 'conflict' && outcome.revision !== undefined) {
      const { revision } = outcome;
      const ended = endedAt ?? Number.POSITIVE_INFINITY;
      moments.push({
        startedAt,
        endedAt: ended,
        revision,
        isWrite: false,
        describe: () => describe(write),
      });
    }
  }
  for (const read of reads) {
    const { consistency, revision, startedAt, endedAt } = read;
    if (consistency.kind !== 'quorum') continue;
    // A get has its version but not the revision of the read: at that revision or later.
    const seen = revision ?? read.found[0]?.revision;
    if (seen === undefined && read.isList) continue;
    moments.push({
      startedAt,
      endedAt,
      revision: seen ?? 0,
      isWrite: false,
      ...(revision === undefined && { get: read }),
      describe: () => describeRead(read),
    });
  }
  const violations: Violation[] = [];
  const byStart = [...moments].sort((left, right) => left.startedAt - right.startedAt);
  const byEnd = [...moments].sort((left, right) => left.endedAt - right.endedAt);
  let next = 0;
  let newest: Moment | undefined;
  for (const moment of byStart) {
    for (; byEnd[next] && byEnd[next]!.endedAt < moment.startedAt; next += 1) {
      const ended = byEnd[next]!;
      if (!newest || ended.revision > newest.revision) newest = ended;
    }
    if (!newest) continue;
    if (isOrdered(moment, newest.revision, state)) continue;
    violations.push({
      rule: moment.isWrite ? 'write before an earlier one' : 'stale read',
      detail: `${moment.describe()} began after ${newest.describe()} had ended`,
    });
  }
  return violations;
}

function isOrdered(
  { isWrite, get, revision }: Moment,
  newest: number,
  state: ReplayedState,
): boolean {
  if (get) return state.wasThereSince(get.key, get.found[0]?.revision, newest);
  return isWrite ? revision > newest : revision >= newest;
}

/** Whether the write created its revision; a deletion may have found nothing and only name one. */
function putsSomething({ operations }: WriteRecord): boolean {
  return operations.some(({ kind }) => kind === 'put');
}

/** Returns the revision at which a write took effect, if it is certain. */
function appliedAt(write: WriteRecord, state: ReplayedState): number | undefined {
  if (write.outcome.kind === 'applied') return write.outcome.revision;
  for (const operation of write.operations) {
    if (operation.kind === 'put') return state.puts(operation.value)[0]?.revision;
  }
  return undefined;
}

function holds(expect: 'absent' | number, current: Version | undefined): boolean {
  return expect === 'absent' ? current === undefined : current?.revision === expect;
}

function sameVersion(left: Version | undefined, right: Version | undefined): boolean {
  return left?.value === right?.value && left?.revision === right?.revision;
}

function revisions(events: readonly LoggedEvent[]): string {
  return events.map(({ revision }) => revision).join(', ');
}

function show(version: Version | undefined): string {
  return version ? `${version.key}=${version.value}@${version.revision}` : 'nothing';
}

function describe({ client, startedAt, endedAt, operations, outcome }: WriteRecord): string {
  return `${client} [${startedAt}, ${endedAt ?? 'open'}] ${JSON.stringify(operations)} -> ${JSON.stringify(outcome)}`;
}

function describeRead({ client, replica, startedAt, endedAt, ...read }: ReadRecord): string {
  const { consistency, key, isList, revision, found } = read;
  return `${client} at ${replica} [${startedAt}, ${endedAt}] ${isList ? 'list' : 'get'} ${key} ${JSON.stringify(consistency)} -> @${revision} ${found.map(show).join(' ')}`;
}
