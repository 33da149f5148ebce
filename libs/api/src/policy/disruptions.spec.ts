import { StatusError } from '@orch/apimachinery';
import type { Pod } from '@orch/types/core/v1';
import type { PodDisruptionBudget } from '@orch/types/policy/v1';
import { describe, expect, it } from 'vitest';
import {
  consumeDisruption,
  coversPod,
  isExemptFromBudgets,
  isUnreadyAndUnneeded,
} from './disruptions.js';

const now = '2026-11-22T15:20:40Z';
const labelled = { metadata: { labels: { app: 'web' } } } as Pod;

function pod(phase: string, ready = 'False'): Pod {
  return { metadata: {}, status: { phase, conditions: [{ type: 'Ready', status: ready }] } } as Pod;
}

function budget(status: Partial<NonNullable<PodDisruptionBudget['status']>>): PodDisruptionBudget {
  const counts = { disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2, expectedPods: 3 };
  return {
    metadata: { name: 'b', generation: 4 },
    status: { observedGeneration: 4, ...counts, ...status },
  };
}

describe('budgets', () => {
  const none = [{ key: 'pdb.orch.io/deprecated-v1beta1-empty-selector-match', operator: 'Exists' }];
  it.each([
    [undefined, 'v1', false],
    [{}, 'v1', true],
    [{}, 'v1beta1', false],
    [{ matchLabels: { app: 'web' } }, 'v1beta1', true],
    [{ matchLabels: { app: 'db' } }, 'v1', false],
    [{ matchExpressions: none }, 'v1', false],
    [{ matchExpressions: [{ key: 'app', operator: 'Like' }] }, 'v1', false],
  ])('cover by selector %j in %s: %s', (selector, version, expected) => {
    expect(coversPod({ spec: { selector } }, version, labelled)).toBe(expected);
  });

  it('exempt pods that are pending or terminated', () => {
    const phases = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'];
    expect(phases.filter((phase) => isExemptFromBudgets(pod(phase)))).toEqual([
      'Pending',
      'Succeeded',
      'Failed',
    ]);
    expect(isExemptFromBudgets({ metadata: { deletionTimestamp: now } } as Pod)).toBe(true);
  });

  it('allow unready pods if enough others are healthy', () => {
    expect(isUnreadyAndUnneeded(budget({}), pod('Running'))).toBe(true);
    expect(isUnreadyAndUnneeded(budget({}), pod('Running', 'True'))).toBe(false);
    expect(isUnreadyAndUnneeded(budget({ currentHealthy: 1 }), pod('Running'))).toBe(false);
    expect(isUnreadyAndUnneeded(budget({ desiredHealthy: 0 }), pod('Running'))).toBe(false);
    expect(isUnreadyAndUnneeded({}, pod('Running'))).toBe(false);
  });

  it('count allowed disruptions down to zero and set the condition', () => {
    const shared = budget({ disruptionsAllowed: 2 });
    consumeDisruption(shared, 'a', now);
    expect(shared.status?.conditions).toBeUndefined();
    consumeDisruption(shared, 'c', now);
    expect(shared.status).toMatchObject({
      disruptionsAllowed: 0,
      disruptedPods: { a: now, c: now },
      conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }],
    });
    expect(() => consumeDisruption(shared, 'd', now)).toThrow('Cannot evict pod');
  });

  const many = Object.fromEntries(Array.from({ length: 2_001 }, (_, index) => [`p${index}`, now]));
  it.each([
    [{ observedGeneration: 3 }, 429, 10, 'is still being processed by the server.'],
    [{ disruptionsAllowed: 0 }, 429, undefined, 'needs 2 healthy pods and has 3 currently'],
    [{ disruptionsAllowed: -1 }, 403, undefined, 'pdb disruptions allowed is negative'],
    [{ disruptedPods: many }, 403, undefined, 'DisruptedPods map too big'],
  ])('with %o reject with %i', (status, code, retryAfterSeconds, text) => {
    const refused = budget(status);
    try {
      consumeDisruption(refused, 'a', now);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      expect(error.code).toBe(code);
      expect(error.status.details?.retryAfterSeconds).toBe(retryAfterSeconds);
      expect(JSON.stringify(error.status)).toContain(text);
      return;
    }
    throw new Error('nothing was refused');
  });
});
