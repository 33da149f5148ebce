/**
 * A client of the simulated cluster: mostly one request at a time, at a random replica, and a
 * record of each. A request fails when its replica dies.
 */
import type { Awaitable } from '@orch/component';
import { type Revision, StoreError, type VersionedStore } from '@orch/store';
import type { Consistency, ReadRecord, WriteOperation, WriteRecord } from '../history/history.js';
import { inTime } from './in-time.js';
import { drawKey, listPrefixes, paddingMax, storeOperation, versionOf } from './objects.js';
import type { Random } from './random.js';
import type { SimLoop } from './sim-loop.js';

/** A replica as clients see it. */
export interface Endpoint {
  readonly name: string;
  /** Undefined while its process is dead. */
  readonly store: VersionedStore | undefined;
  /** No client reaches it. */
  readonly isApart: boolean;
}

export interface ClientNotes {
  readonly writes: WriteRecord[];
  readonly reads: ReadRecord[];
  /** Results that must not exist. */
  readonly faults: string[];
}

const requestTimeoutsMs = [300, 4_000] as const;
const patienceMs = 6_000;
/** Some clients: continue without waiting for results, up to so many requests at a time. */
const openLoopShare = 0.3;
const openLoopMax = 8;
const burstRate = 0.03;
const burstMax = 30;
/** Requests of a burst: more than a leader accepts. */
const largeBurstRate = 0.02;

export class SimClient {
  private sequence = 0;
  private seenRevision = 0;
  private stopped = false;
  private underWay = 0;
  private readonly underWayMax: number;
  private readonly timeoutMs: number;

  constructor(
    private readonly name: string,
    private readonly loop: SimLoop,
    private readonly random: Random,
    private readonly endpoints: readonly Endpoint[],
    private readonly notes: ClientNotes,
    private readonly pauseMs: number,
  ) {
    this.timeoutMs = random.pick(requestTimeoutsMs);
    this.underWayMax = random.chance(openLoopShare) ? openLoopMax : 1;
  }

  start(): void {
    this.loop.after(this.random.between(0, this.pauseMs), () => void this.round());
  }

  stop(): void {
    this.stopped = true;
  }

  private async round(): Promise<void> {
    if (this.stopped) return;
    const endpoint = this.random.pick(this.endpoints);
    const { store, isApart } = endpoint;
    if (store && !isApart && this.underWay < this.underWayMax) {
      const asked = this.ask(store, endpoint.name);
      if (this.underWayMax === 1) await asked;
    }
    this.loop.after(this.random.magnitude(0.2, this.pauseMs), () => void this.round());
  }

  private async ask(store: VersionedStore, replica: string): Promise<void> {
    this.underWay += 1;
    const kind = this.random.pick(['write', 'write', 'get', 'list'] as const);
    if (kind === 'write') await this.writes(store);
    else if (kind === 'get') await this.get(store, replica);
    else await this.list(store, replica);
    this.underWay -= 1;
  }

  /** One, sometimes many concurrently. */
  private async writes(store: VersionedStore): Promise<void> {
    const { random } = this;
    const count = random.chance(burstRate) ? 2 + random.integer(burstMax) : 1;
    const isLarge = count > 1 && random.chance(largeBurstRate);
    const padding = () => {
      if (isLarge) return paddingMax;
      return random.chance(0.02) ? random.pick([20_000, 200_000]) : random.integer(64);
    };
    await Promise.all(Array.from({ length: count }, () => this.write(store, padding())));
  }

  private async write(store: VersionedStore, padding: number): Promise<void> {
    const { random, notes } = this;
    const count = random.chance(0.1) ? 1 + random.integer(4) : 1;
    const keys = new Set(Array.from({ length: count }, () => drawKey(random)));
    const operations = await this.drawOperations(store, [...keys]);
    const record: WriteRecord = {
      kind: 'write',
      client: this.name,
      startedAt: this.loop.stepCount,
      operations,
      outcome: { kind: 'unknown' },
    };
    notes.writes.push(record);
    const wanted = operations.map((operation) => storeOperation(operation, padding));
    try {
      const result = await this.patiently(store.commit(wanted, this.timeoutMs));
      if (result === undefined) return;
      record.endedAt = this.loop.stepCount;
      this.saw(result.revision);
      if (result.succeeded) {
        record.outcome = { kind: 'applied', revision: result.revision };
        return;
      }
      const { revision, failedOperation, current } = result;
      record.outcome = {
        kind: 'conflict',
        operation: failedOperation,
        revision,
        current: current && versionOf(current),
      };
    } catch (error) {
      record.endedAt = this.loop.stepCount;
      if (!(error instanceof StoreError)) throw error;
      if (error.code !== 'OutcomeUnknown') {
        record.outcome = { kind: 'refused', reason: error.code };
      }
    }
  }

  /**
   * What an update expects comes from a read, as with real clients: often the truth, sometimes old.
   */
  private async drawOperations(
    store: VersionedStore,
    keys: readonly string[],
  ): Promise<WriteOperation[]> {
    const { random } = this;
    const operations: WriteOperation[] = [];
    for (const key of keys) {
      this.sequence += 1;
      const value = `${this.name}-${this.sequence}`;
      const expect = random.chance(0.6) ? await this.expectation(store, key) : undefined;
      const condition = expect === undefined ? {} : { expect };
      if (random.chance(0.2)) operations.push({ kind: 'delete', key, ...condition });
      else operations.push({ kind: 'put', key, value, ...condition });
    }
    return operations;
  }

  private async expectation(store: VersionedStore, key: string) {
    try {
      const options = { consistency: { kind: 'any' as const }, timeoutMs: this.timeoutMs };
      const result = await this.patiently(store.get(key, options));
      return result?.entry?.revision ?? ('absent' as const);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return undefined;
    }
  }

  private async get(store: VersionedStore, replica: string): Promise<void> {
    const key = drawKey(this.random);
    const consistency = this.drawConsistency(store);
    const startedAt = this.loop.stepCount;
    const result = await this.answered(store.get(key, readOptions(consistency, this.timeoutMs)));
    if (!result) return;
    this.saw(result.revision);
    this.notes.reads.push({
      kind: 'read',
      client: this.name,
      replica,
      startedAt,
      endedAt: this.loop.stepCount,
      consistency,
      key,
      isList: false,
      // An exact get returns the revision of the store, not that of the result.
      revision: consistency.kind === 'exact' ? consistency.revision : result.revision,
      found: result.entry ? [versionOf(result.entry)] : [],
    });
  }

  /** A whole list, often in pages, each page from another replica. */
  private async list(first: VersionedStore, firstName: string): Promise<void> {
    const { random } = this;
    const prefix = random.pick(listPrefixes);
    const limit = random.chance(0.5) ? 1 + random.integer(6) : undefined;
    const consistency = this.drawConsistency(first);
    const startedAt = this.loop.stepCount;
    const found: ReadRecord['found'][number][] = [];
    let position: { revision: number; startAfter: string } | undefined;
    let store: VersionedStore | undefined = first;
    for (;;) {
      if (!store) return;
      const page: Awaited<ReturnType<VersionedStore['list']>> | undefined = await this.answered(
        store.list(prefix, {
          ...readOptions(
            position ? { kind: 'exact', revision: position.revision } : consistency,
            this.timeoutMs,
          ),
          ...(limit !== undefined && { limit }),
          ...(position && { startAfter: position.startAfter }),
        }),
      );
      if (!page) return;
      found.push(...page.entries.map(versionOf));
      const last = page.entries.at(-1);
      if (!last || page.remainingCount === 0 || limit === undefined) {
        this.note(prefix, consistency, page.revision, found, startedAt, firstName);
        return;
      }
      position = { revision: page.revision, startAfter: last.key };
      const endpoint = random.pick(this.endpoints);
      store = endpoint.isApart ? undefined : endpoint.store;
    }
  }

  private note(
    prefix: string,
    consistency: Consistency,
    revision: number,
    found: ReadRecord['found'],
    startedAt: number,
    replica: string,
  ): void {
    this.saw(revision);
    this.notes.reads.push({
      kind: 'read',
      client: this.name,
      replica,
      startedAt,
      endedAt: this.loop.stepCount,
      consistency,
      key: prefix,
      isList: true,
      revision,
      found,
    });
  }

  private drawConsistency(store: VersionedStore): Consistency {
    const { random, seenRevision } = this;
    if (seenRevision > 0 && random.chance(0.25)) {
      return { kind: 'notOlderThan', revision: seenRevision };
    }
    if (seenRevision > 0 && random.chance(0.25)) {
      const back = random.integer(random.pick([40, 1_000]));
      // Also where history ends: compacted revisions must be refused, all others be exact.
      const edge = store.compactedRevision() + 2 - random.integer(8);
      const revision = random.chance(0.3) ? edge : seenRevision - back;
      return { kind: 'exact', revision: Math.max(1, revision) };
    }
    return random.chance(0.7) ? { kind: 'quorum' } : { kind: 'any' };
  }

  private saw(revision: number): void {
    this.seenRevision = Math.max(this.seenRevision, revision);
  }

  private async answered<Result>(work: Awaitable<Result>): Promise<Result | undefined> {
    try {
      return await this.patiently(work);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return undefined;
    }
  }

  /** Undefined when no result arrives in time, not even a refusal: the replica has died. */
  private patiently<Result>(work: Awaitable<Result>): Promise<Result | undefined> {
    return inTime(this.loop, Promise.resolve(work), patienceMs);
  }
}

function readOptions(consistency: Consistency, timeoutMs: number) {
  if (consistency.kind === 'quorum' || consistency.kind === 'any') {
    return { consistency: { kind: consistency.kind }, timeoutMs };
  }
  const revision = consistency.revision as Revision;
  return { consistency: { kind: consistency.kind, revision }, timeoutMs };
}
