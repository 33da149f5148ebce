import { definitions } from '@orch/api';
import { chargeQuotas, quotaEvaluator, StatusError } from '@orch/apimachinery';
import { createLogger, systemClock } from '@orch/component';
import { freshObject, objectOf, ResourceTable, storedBytes } from '@orch/registry';
import { type Entry, type Operation, type ReadWriteStore, toRevision } from '@orch/store';
import type { Pod, ResourceQuota } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import { quotaWaiterCountMax } from '../../limits.js';
import { QuotaCharges } from './quota-charges.js';

const quotas = new ResourceTable(definitions).stored('core', 'resourcequotas')!;
const logger = createLogger({ component: 'test', format: 'text', level: 'fatal' });
const evaluator = quotaEvaluator([{ group: '', resource: 'pods' }]);
const namespace = 'ns';
const unused = (): never => {
  throw new Error('charging does not need this');
};

/** The quotas of a namespace, in memory. */
class QuotaStore {
  readonly entries = new Map<string, Entry>();
  commitCount = 0;
  revision = 0;
  /** Runs before a commit, in place of another server. */
  beforeCommit: () => void = () => undefined;

  readonly store: ReadWriteStore = {
    list: async () => ({
      entries: [...this.entries.values()],
      revision: toRevision(this.revision),
      remainingCount: 0,
    }),
    commit: async ([operation]) => {
      this.beforeCommit();
      this.commitCount += 1;
      const { key, expect: expected } = operation as Operation & { kind: 'put' };
      const current = this.entries.get(key);
      const isExpected = expected?.kind === 'revision' && current?.revision === expected.revision;
      const revision = toRevision(this.revision);
      if (!isExpected) return { succeeded: false, revision, failedOperation: 0, current };
      const entry = this.put(key, freshObject<ResourceQuota>(operation as unknown as Entry));
      return { succeeded: true, revision: entry.revision, entries: [entry] };
    },
    get: unused,
    watch: unused,
    revision: unused,
    compactedRevision: unused,
  };

  put(key: string, quota: ResourceQuota): Entry {
    this.revision += 1;
    const revision = toRevision(this.revision);
    const bytes = storedBytes(quotas, quota);
    const entry = { key, bytes, createRevision: revision, revision, derived: undefined };
    this.entries.set(key, entry);
    return entry;
  }

  add(name: string, podCount: number): void {
    this.put(quotas.key(namespace, name), {
      metadata: { name, namespace },
      status: { hard: { pods: `${podCount}` }, used: { pods: '0' } },
    });
  }

  used(name: string): string | undefined {
    return this.quota(name).status?.used?.pods;
  }

  quota(name: string): ResourceQuota {
    return objectOf<ResourceQuota>(this.entries.get(quotas.key(namespace, name))!);
  }

  /** What another server writes. */
  setUsed(name: string, pods: string): void {
    const quota = this.quota(name);
    const status = { ...quota.status, used: { pods } };
    this.put(quotas.key(namespace, name), { ...quota, status });
  }
}

function setUp(...hard: number[]) {
  const stored = new QuotaStore();
  for (const [index, podCount] of hard.entries()) stored.add(`q${index}`, podCount);
  const { store } = stored;
  const charges = new QuotaCharges({ store, clock: systemClock, quotas, logger });
  const deadlineMs = systemClock.monotonicMs() + 60_000;
  const object: Pod = { spec: { containers: [] } };
  const chargePod = () =>
    charges.charge(namespace, {
      decide: (list) => {
        const change = { object, old: undefined, nowMs: 0 };
        const outcome = chargeQuotas(list, evaluator, change);
        if (outcome.allowed) return outcome.charges;
        throw new StatusError({ code: 403, reason: 'Forbidden', message: outcome.reason });
      },
      deadlineMs,
      timeoutError: () => new Error('timed out'),
    });
  return { stored, charges, deadlineMs, chargePod };
}

describe('QuotaCharges', () => {
  it('writes the charges that wait for a namespace together', async () => {
    const { stored, chargePod } = setUp(1_000);
    await Promise.all(Array.from({ length: 100 }, chargePod));
    expect(stored.used('q0')).toBe('100');
    expect(stored.commitCount).toBe(1);
  });

  it('grants exactly what every quota has room for', async () => {
    const { stored, chargePod } = setUp(20, 7);
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, chargePod));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(7);
    expect([stored.used('q0'), stored.used('q1')]).toEqual(['7', '7']);
  });

  it('decides again when another server has charged the second of two quotas', async () => {
    const { stored, chargePod } = setUp(10, 10);
    let others = 3;
    stored.beforeCommit = () => {
      if (others > 0 && stored.used('q0') !== '0') {
        others -= 1;
        stored.setUsed('q1', `${8 - others}`);
      }
    };
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, chargePod));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    expect([stored.used('q0'), stored.used('q1')]).toEqual(['2', '10']);
  });

  it('gives up with the error of the request when others are faster every time', async () => {
    const { stored, chargePod } = setUp(1_000);
    let used = 0;
    stored.beforeCommit = () => {
      used += 1;
      stored.setUsed('q0', `${used}`);
    };
    await expect(chargePod()).rejects.toThrow('timed out');
  });

  it('refunds a charge after later charges of the same server', async () => {
    const { stored, charges, deadlineMs, chargePod } = setUp(10);
    const charge = await chargePod();
    await Promise.all([chargePod(), chargePod()]);
    await charges.refund(namespace, charge, deadlineMs);
    expect(stored.used('q0')).toBe('2');
  });

  it('leaves a quota that was recounted since to the quota controller', async () => {
    const { stored, charges, deadlineMs, chargePod } = setUp(10);
    const charge = await chargePod();
    stored.setUsed('q0', '0');
    await charges.refund(namespace, charge, deadlineMs);
    expect(stored.used('q0')).toBe('0');
  });

  it('rejects with 429 when too many writes wait', async () => {
    const { chargePod } = setUp(1_000_000);
    const outcomes = await Promise.allSettled(
      Array.from({ length: quotaWaiterCountMax + 1 }, chargePod),
    );
    const rejected = outcomes.filter(({ status }) => status === 'rejected');
    expect(rejected).toEqual([
      { status: 'rejected', reason: expect.objectContaining({ code: 429 }) },
    ]);
  });

  it('rejects a charge whose deadline has passed before its turn', async () => {
    const { stored, charges } = setUp(10);
    const charge = charges.charge(namespace, {
      decide: () => [],
      deadlineMs: 0,
      timeoutError: () => new Error('timed out'),
    });
    await expect(charge).rejects.toThrow('timed out');
    expect(stored.commitCount).toBe(0);
  });
});
