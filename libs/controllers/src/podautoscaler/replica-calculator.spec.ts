import type { Pod } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import { at, epochMs, pod } from '../../test/objects.js';
import {
  averageReplicas,
  type CalculatorOptions,
  perPodReplicas,
  totalReplicas,
  utilizationReplicas,
} from './replica-calculator.js';

const nowMs = epochMs + 3_600_000;
const settings: CalculatorOptions = {
  tolerance: 0.1,
  cpuInitializationMs: 300_000,
  initialReadinessDelayMs: 30_000,
  nowMs,
};

/** A pod that requests one core; it is not in the metrics if `usage` is undefined. */
interface Member {
  readonly usage?: number;
  readonly phase?: 'Pending' | 'Running' | 'Failed';
  readonly ready?: boolean;
  /** Seconds after the epoch. */
  readonly started?: number;
  readonly readySince?: number;
  readonly deleting?: boolean;
}

function world(members: readonly Member[], resource = 'cpu') {
  const pods = members.map(({ usage: _usage, started = 0, ...facts }, index): Pod => {
    const requests = { cpu: '1' };
    const spec = { containers: [{ name: 'c', resources: { requests } }] };
    const one = pod({ name: `p${index}`, spec, ...facts });
    return { ...one, status: { ...one.status, startTime: at(started) } };
  });
  const metrics = new Map(
    members.flatMap(({ usage }, index) =>
      usage === undefined
        ? []
        : [[`p${index}`, { value: usage, timestampMs: nowMs, windowMs: 60_000 }] as const],
    ),
  );
  const currentReplicas = pods.length;
  return { pods, metrics, resource, container: '', currentReplicas, settings };
}

describe('utilizationReplicas', () => {
  it.each<[string, Member[], number, number]>([
    ['scales up', [{ usage: 600 }, { usage: 600 }], 30, 4],
    ['scales down', [{ usage: 100 }, { usage: 100 }, { usage: 100 }], 30, 1],
    ['changes nothing within the tolerance', [{ usage: 540 }, { usage: 540 }], 50, 2],
    [
      'ignores a pod that is being deleted',
      [{ usage: 900 }, { usage: 100, deleting: true }],
      30,
      3,
    ],
    ['takes missing pods as at the request, down', [{ usage: 100 }, {}], 50, 2],
    ['takes missing pods as idle, up', [{ usage: 900 }, {}, {}], 50, 3],
    ['takes pending pods as idle, up', [{ usage: 900 }, { phase: 'Pending' }], 30, 3],
    ['ignores pending pods, down', [{ usage: 100 }, { phase: 'Pending' }], 50, 1],
  ])('%s', (_, members, target, replicas) => {
    expect(utilizationReplicas(world(members), target).replicas).toBe(replicas);
  });

  it.each<[string, Member, boolean]>([
    ['has run for long', { started: 0, ready: true }, true],
    ['starts and is not ready', { started: 3_500, ready: false }, false],
    ['starts and is ready for a window', { started: 3_400, readySince: 3_500 }, true],
    ['starts and was not ready in the window', { started: 3_400, readySince: 3_580 }, false],
    ['has never been ready', { started: 1_000, ready: false, readySince: 1_010 }, false],
    ['is no longer ready', { started: 1_000, ready: false, readySince: 2_000 }, true],
  ])('decides whether the CPU of a pod counts that %s', (_, member, counts) => {
    const { value } = utilizationReplicas(world([{ usage: 100 }, { usage: 900, ...member }]), 50);
    expect(value).toBe(counts ? 500 : 100);
  });

  it.each<[string, () => unknown, string]>([
    [
      'no pods',
      () => utilizationReplicas(world([]), 50),
      'no pods returned by selector while calculating replica count',
    ],
    [
      'no ready pods',
      () => utilizationReplicas(world([{ usage: 1, phase: 'Failed' }]), 50),
      'did not receive metrics for any ready pods',
    ],
    [
      'a missing request',
      () => utilizationReplicas(world([{ usage: 1 }], 'memory'), 50),
      'missing request for memory',
    ],
    [
      'metrics of others',
      () => utilizationReplicas({ ...world([{}]), metrics: world([{}, { usage: 1 }]).metrics }, 5),
      'no metrics returned matched known pods',
    ],
  ])('reports %s', (_, act, message) => {
    expect(act).toThrow(message);
  });
});

describe('other targets', () => {
  it('average over pods', () => {
    expect(averageReplicas(world([{ usage: 30 }, { usage: 10 }], ''), 10)).toEqual({
      replicas: 4,
      value: 20,
    });
    // A pod without metrics counts as at the target when the others use less.
    expect(averageReplicas(world([{ usage: 2 }, {}], ''), 10).replicas).toBe(2);
  });

  it('compare a total with a value for the ready pods', () => {
    const { pods } = world([{}, {}, { ready: false }]);
    const of = (total: number, currentReplicas = 3) =>
      totalReplicas(total, 100, { pods, currentReplicas, settings }).replicas;
    expect(of(250)).toBe(5);
    expect(of(105)).toBe(3);
    expect(of(250, 0)).toBe(3);
    expect(() => totalReplicas(250, 100, { pods: [], currentReplicas: 1, settings })).toThrow(
      'unable to calculate ready pods: no pods returned by selector while calculating replica count',
    );
  });

  it('divide a total by the pods', () => {
    expect(perPodReplicas(1_000, 100, 4, settings)).toEqual({ replicas: 10, value: 250 });
    expect(perPodReplicas(420, 100, 4, settings).replicas).toBe(4);
    expect(perPodReplicas(420, 100, 0, settings).replicas).toBe(5);
    expect(perPodReplicas(0, 100, 0, settings).replicas).toBe(0);
  });
});
