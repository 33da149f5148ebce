import type { Pod } from '@orch/types/core/v1';
import type { PodDisruptionBudget } from '@orch/types/policy/v1';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { at, epochMs, pod } from '../../test/objects.js';
import { stateCount, stateTimeoutMs } from '../../test/states.js';
import {
  budgetStatus,
  disruptionsOf,
  expectedPodsOf,
  failedStatus,
  needsScale,
  sameBudgetStatus,
} from './budget-plan.js';

type Spec = PodDisruptionBudget['spec'];

function budget(spec: Spec, status?: Partial<NonNullable<PodDisruptionBudget['status']>>) {
  const counts = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  return {
    metadata: { name: 'web', namespace: 'default', generation: 2 },
    spec,
    ...(status && { status: { ...counts, ...status } }),
  };
}

function statusOf(of: PodDisruptionBudget, pods: readonly Pod[], total: number, nowMs = epochMs) {
  const disruptions = disruptionsOf(of, pods, nowMs);
  return budgetStatus(of, pods, expectedPodsOf(of, total), disruptions, nowMs);
}

describe('expectedPodsOf', () => {
  it.each<[Spec, number, number]>([
    [{ minAvailable: 2 }, 3, 2],
    [{ minAvailable: '50%' }, 3, 2],
    [{ minAvailable: '100%' }, 3, 3],
    [{ maxUnavailable: 1 }, 3, 2],
    [{ maxUnavailable: '34%' }, 3, 1],
    [{ maxUnavailable: 5 }, 3, 0],
    [{ maxUnavailable: 0 }, 3, 3],
  ])('%j of %i needs %i', (spec, total, desiredHealthy) => {
    expect(expectedPodsOf(budget(spec), total)).toEqual({ expectedPods: total, desiredHealthy });
  });

  it('counts what controllers want for shares and maxima only', () => {
    expect(needsScale(budget({ minAvailable: 2 }))).toBe(false);
    expect(needsScale(budget({ minAvailable: '2%' }))).toBe(true);
    expect(needsScale(budget({ maxUnavailable: 2 }))).toBe(true);
  });
});

describe('budgetStatus', () => {
  it('counts ready pods that are neither evicted nor being deleted', () => {
    const disruptedPods = { a: at(-60), b: at(-60), old: at(-121), gone: at(-1) };
    const pods = [
      pod({ name: 'a' }),
      pod({ name: 'b', deleting: true }),
      pod({ name: 'old' }),
      pod({ name: 'c' }),
      pod({ name: 'd', ready: false }),
    ];
    const of = budget({ minAvailable: 1 }, { disruptedPods });
    expect(statusOf(of, pods, 5)).toMatchObject({
      currentHealthy: 2,
      disruptionsAllowed: 1,
      disruptedPods: { a: at(-60) },
      observedGeneration: 2,
      conditions: [{ type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods' }],
    });
    const { overdue, recheckMs } = disruptionsOf(of, pods, epochMs);
    expect(overdue.map(({ metadata }) => metadata?.name)).toEqual(['old']);
    expect(recheckMs).toBe(epochMs + 60_000);
  });

  it('allows nothing without pods or when it fails', () => {
    expect(statusOf(budget({ minAvailable: 0 }), [], 0).disruptionsAllowed).toBe(0);
    const failed = failedStatus(budget({ maxUnavailable: 1 }, { disruptionsAllowed: 3 }), 'x', 0);
    expect(failed).toMatchObject({
      disruptionsAllowed: 0,
      conditions: [{ status: 'False', reason: 'SyncFailed', message: 'x' }],
    });
  });

  it('does not change when nothing changed', () => {
    const of = budget({ minAvailable: 1 });
    const pods = [pod({ name: 'a' })];
    const status = statusOf(of, pods, 1);
    const later = statusOf({ ...of, status }, pods, 1, epochMs + 60_000);
    expect(sameBudgetStatus(status, later)).toBe(true);
  });

  it('never allows an eviction that leaves fewer than the minimum', {
    timeout: stateTimeoutMs,
  }, () => {
    const amount = fc.oneof(
      fc.nat(12),
      fc.nat(100).map((percent) => `${percent}%`),
    );
    const spec = fc.oneof(
      fc.record({ minAvailable: amount }),
      fc.record({ maxUnavailable: amount }),
    );
    const podFacts = fc.record({
      ready: fc.boolean(),
      deleting: fc.boolean(),
      evictedSeconds: fc.option(fc.nat(240)),
    });
    const property = fc.property(
      spec,
      fc.array(podFacts, { maxLength: 12 }),
      fc.nat(12),
      (of, facts, wanted) => {
        const pods = facts.map(({ ready, deleting }, index) =>
          pod({ name: `p${index}`, ready, deleting }),
        );
        const disruptedPods = Object.fromEntries(
          facts.flatMap(({ evictedSeconds }, index) =>
            evictedSeconds === null ? [] : [[`p${index}`, at(-evictedSeconds)]],
          ),
        );
        const subject = budget(of, { disruptedPods });
        const total = needsScale(subject) ? wanted : pods.length;
        const status = statusOf(subject, pods, total);
        expect(status.disruptionsAllowed).toBeGreaterThanOrEqual(0);
        if (status.disruptionsAllowed === 0) return;
        const evicted = { ...status.disruptedPods };
        const healthy = pods.filter(
          ({ metadata }, index) =>
            facts[index]?.ready && !facts[index]?.deleting && !evicted[metadata?.name ?? ''],
        );
        expect(healthy.length - status.disruptionsAllowed).toBe(status.desiredHealthy);
        // After these evictions are recorded, none is left.
        for (const { metadata } of healthy.slice(0, status.disruptionsAllowed)) {
          evicted[metadata?.name ?? ''] = at(0);
        }
        const after = statusOf(budget(of, { disruptedPods: evicted }), pods, total);
        expect(after.disruptionsAllowed).toBe(0);
      },
    );
    fc.assert(property, { numRuns: stateCount });
  });
});
