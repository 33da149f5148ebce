/**
 * Charges the quotas of a namespace before an object is stored, and refunds the charge of an object
 * that was not stored. The charges that wait for a namespace are decided one after the other and
 * written together. Each quota is written at its expected revision, so that no two servers grant
 * the same capacity, and in a commit of its own: a resuming watch could not distinguish two changes
 * of one resource at one revision.
 */
import { type QuotaCharge, refundedUsage, tooManyRequests } from '@orch/apimachinery';
import type { Clock, Logger } from '@orch/component';
import { freshObject, type Resource, storedBytes } from '@orch/registry';
import {
  type Entry,
  type ReadConsistency,
  type ReadWriteStore,
  type Revision,
  StoreError,
} from '@orch/store';
import type { ResourceQuota } from '@orch/types/core/v1';
import { quotaBatchSizeMax, quotaChargeAttemptsMax, quotaWaiterCountMax } from '../../limits.js';
import { BatchQueue } from './batch-queue.js';
import { OwnWrites } from './own-writes.js';
import { QuotaLedger, type QuotaRow, type Usage } from './quota-ledger.js';

export type Consistency = Extract<ReadConsistency, { kind: 'any' | 'quorum' }>['kind'];

export interface QuotaChargesDependencies {
  readonly store: ReadWriteStore;
  readonly clock: Clock;
  readonly quotas: Resource;
  readonly logger: Logger;
}

export interface ChargeRequest {
  /** The charges of the change; throws the rejection if a quota has no room. */
  readonly decide: (quotas: readonly ResourceQuota[]) => readonly QuotaCharge[];
  /** Monotonic milliseconds. */
  readonly deadlineMs: number;
  /** The error if the charge misses its deadline or is always overtaken by other servers. */
  readonly timeoutError: () => Error;
}

/** The amounts charged to one quota, and the revision of the quota that contains them. */
interface ChargedQuota {
  readonly key: string;
  readonly added: QuotaCharge['added'];
  readonly revision: Revision;
}

export type Charge = readonly ChargedQuota[];

/** A charge or a refund that waits for its turn. */
interface Task {
  readonly deadlineMs: number;
  readonly timeoutError: () => Error;
  /** Changes the ledger; returns the changed quotas, with the amounts added. Throws to reject. */
  readonly apply: (ledger: QuotaLedger) => Omit<ChargedQuota, 'revision'>[];
  readonly resolve: (charge: Charge) => void;
  readonly reject: (error: unknown) => void;
}

interface Decision {
  readonly task: Task;
  readonly changes: Omit<ChargedQuota, 'revision'>[];
}

export class QuotaCharges {
  private readonly ownWrites = new OwnWrites();
  private readonly queue = new BatchQueue<Task>({
    run: (namespace, tasks) => this.settle(namespace, tasks),
    batchSizeMax: quotaBatchSizeMax,
    waiterCountMax: quotaWaiterCountMax,
    queueFullError: () =>
      tooManyRequests('too many writes wait for the quotas of the namespace', 1),
  });

  constructor(private readonly dependencies: QuotaChargesDependencies) {}

  /**
   * Charges all quotas or none. Throws what `decide` throws, `timeoutError`, 429 if too many wait,
   * and StoreError.
   */
  charge(namespace: string, { decide, ...request }: ChargeRequest): Promise<Charge> {
    return this.enqueue(namespace, {
      ...request,
      apply: (ledger) =>
        decide(ledger.quotas()).map(({ quota, added, used }) => {
          const key = this.dependencies.quotas.key(namespace, quota.metadata?.name ?? '');
          ledger.setUsage(key, used);
          return { key, added };
        }),
    });
  }

  /**
   * Refunds a charge, except to quotas that others have changed since: the quota controller may
   * have recounted them. It also recounts quotas that a failure leaves charged.
   */
  async refund(namespace: string, charge: Charge, deadlineMs: number): Promise<void> {
    const timeoutError = () =>
      new StoreError('Unavailable', 'the refund of a quota waited too long');
    try {
      await this.enqueue(namespace, {
        deadlineMs,
        timeoutError,
        apply: (ledger) => this.applyRefund(ledger, charge),
      });
    } catch (error) {
      this.dependencies.logger.warn(
        { err: error, namespace },
        'a charge was not refunded, the quota controller will recount',
      );
    }
  }

  async read(namespace: string, kind: Consistency, timeoutMs: number): Promise<readonly Entry[]> {
    const { store, quotas } = this.dependencies;
    const prefix = quotas.prefix(namespace);
    return (await store.list(prefix, { consistency: { kind }, timeoutMs })).entries;
  }

  private enqueue(namespace: string, task: Omit<Task, 'resolve' | 'reject'>): Promise<Charge> {
    return new Promise((resolve, reject) => {
      this.queue.add(namespace, { ...task, resolve, reject });
    });
  }

  private applyRefund(ledger: QuotaLedger, charge: Charge) {
    const held = charge.filter(({ key, revision }) => {
      const current = ledger.row(key)?.entry.revision;
      return current !== undefined && this.ownWrites.contain(key, revision, current);
    });
    for (const { key, added } of held) {
      ledger.setUsage(key, refundedUsage(ledger.row(key)!.quota, added));
    }
    return held;
  }

  /** Never rejects: each task gets its own outcome. */
  private async settle(namespace: string, tasks: readonly Task[]): Promise<void> {
    const nowMs = this.dependencies.clock.monotonicMs();
    const expired = tasks.filter(({ deadlineMs }) => deadlineMs <= nowMs);
    for (const { reject, timeoutError } of expired) reject(timeoutError());
    const pending = tasks.filter((task) => !expired.includes(task));
    if (pending.length === 0) return;
    try {
      const late = await this.decideAndWrite(namespace, pending);
      for (const { reject, timeoutError } of late) reject(timeoutError());
    } catch (error) {
      for (const { reject } of pending) reject(error);
    }
  }

  /** Settles tasks; returns the tasks that other servers overtook at every attempt. */
  private async decideAndWrite(
    namespace: string,
    tasks: readonly Task[],
  ): Promise<readonly Task[]> {
    const deadlineMs = Math.max(...tasks.map((task) => task.deadlineMs));
    let pending = tasks;
    let consistency: Consistency = 'any';
    for (let attempt = 1; attempt <= quotaChargeAttemptsMax; attempt += 1) {
      const entries = await this.read(namespace, consistency, this.leftMs(deadlineMs));
      const ledger = new QuotaLedger(entries);
      const { decisions, rejections } = decide(ledger, pending);
      // There may be room by now: a rejection by what memory shows is confirmed by a quorum.
      const isConfirmed = rejections.length === 0 || consistency === 'quorum';
      consistency = 'quorum';
      if (!isConfirmed) continue;
      for (const { task, error } of rejections) task.reject(error);
      const revisions = await this.writeAll(ledger.changed(), deadlineMs);
      if (revisions) {
        for (const { task, changes } of decisions) {
          task.resolve(changes.map((one) => ({ ...one, revision: revisions.get(one.key)! })));
        }
        return [];
      }
      pending = decisions.map(({ task }) => task);
    }
    return pending;
  }

  /**
   * Returns the new revision of each quota; undefined if another server changed one first. In that
   * case and after an error, the quotas already written are reverted.
   */
  private async writeAll(
    rows: readonly QuotaRow[],
    deadlineMs: number,
  ): Promise<ReadonlyMap<string, Revision> | undefined> {
    const written: { entry: Entry; usedBefore: Usage | undefined }[] = [];
    let isComplete = false;
    try {
      for (const { entry, quota } of rows) {
        const after = await this.write(entry, quota.status?.used, deadlineMs);
        if (!after) return undefined;
        const usedBefore = freshObject<ResourceQuota>(entry).status?.used;
        written.push({ entry: after, usedBefore });
      }
      isComplete = true;
      return new Map(written.map(({ entry }) => [entry.key, entry.revision]));
    } finally {
      if (!isComplete) await this.revert(written, deadlineMs);
    }
  }

  private async revert(
    written: readonly { entry: Entry; usedBefore: Usage | undefined }[],
    deadlineMs: number,
  ): Promise<void> {
    for (const { entry, usedBefore } of written) {
      try {
        await this.write(entry, usedBefore, deadlineMs);
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        this.dependencies.logger.warn(
          { err: error, quota: entry.key },
          'a charge was not reverted, the quota controller will recount',
        );
      }
    }
  }

  /** The new entry; undefined if the quota was changed or deleted since `entry` was read. */
  private async write(
    entry: Entry,
    used: Usage | undefined,
    deadlineMs: number,
  ): Promise<Entry | undefined> {
    const { store, quotas } = this.dependencies;
    const quota = freshObject<ResourceQuota>(entry);
    quota.status = { ...quota.status, used };
    const { key, revision } = entry;
    const bytes = storedBytes(quotas, quota);
    const { revisionOffset } = quotas;
    const expect = { kind: 'revision', revision } as const;
    const put = { kind: 'put', key, bytes, revisionOffset, expect } as const;
    const result = await store.commit([put], this.leftMs(deadlineMs));
    if (!result.succeeded) return undefined;
    const after = result.entries[0]!;
    this.ownWrites.wrote(key, revision, after.revision);
    return after;
  }

  private leftMs(deadlineMs: number): number {
    return Math.max(1, deadlineMs - this.dependencies.clock.monotonicMs());
  }
}

/** Applies the tasks to the ledger one after the other. */
function decide(ledger: QuotaLedger, tasks: readonly Task[]) {
  const decisions: Decision[] = [];
  const rejections: { task: Task; error: unknown }[] = [];
  for (const task of tasks) {
    try {
      decisions.push({ task, changes: task.apply(ledger) });
    } catch (error) {
      rejections.push({ task, error });
    }
  }
  return { decisions, rejections };
}
