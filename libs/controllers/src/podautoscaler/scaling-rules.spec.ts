import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stateCount, stateTimeoutMs } from '../../test/states.js';
import { ScalingHistory } from './scaling-history.js';
import { type BehaviorInput, limitByBehavior, limitByDefault } from './scaling-rules.js';

const nowMs = 1_000_000_000;
const input = {
  currentReplicas: 5,
  desiredReplicas: 5,
  minReplicas: 1,
  maxReplicas: 100,
  recommendations: [],
  nowMs,
};
const behavior = (change: Partial<BehaviorInput>): BehaviorInput => ({
  ...input,
  scaleUp: { stabilizationWindowSeconds: 0, policies: [] },
  scaleDown: { stabilizationWindowSeconds: 0, policies: [] },
  scaleUps: [],
  scaleDowns: [],
  ...change,
});

describe('limitByDefault', () => {
  it.each([
    ['doubles at most', { desiredReplicas: 40 }, 10, 'ScaleUpLimit', 'ReadyForNewScale'],
    ['goes to four at least', { currentReplicas: 1, desiredReplicas: 9 }, 4, 'ScaleUpLimit'],
    ['stops at the maximum', { desiredReplicas: 9, maxReplicas: 7 }, 7, 'TooManyReplicas'],
    ['stops at the minimum', { desiredReplicas: 0 }, 1, 'TooFewReplicas'],
    ['scales within the bounds', { desiredReplicas: 3 }, 3, 'DesiredWithinRange'],
    [
      'keeps the highest recent recommendation',
      { desiredReplicas: 2, recommendations: [{ replicas: 4, atMs: nowMs - 299_000 }] },
      4,
      'DesiredWithinRange',
      'ScaleDownStabilized',
    ],
    [
      'forgets old recommendations',
      { desiredReplicas: 2, recommendations: [{ replicas: 4, atMs: nowMs - 301_000 }] },
      2,
      'DesiredWithinRange',
    ],
  ])('%s', (_, change, replicas, reason, stabilized = 'ReadyForNewScale') => {
    const limited = limitByDefault({ ...input, ...change }, 300_000);
    expect(limited).toMatchObject({
      replicas,
      limited: { reason, isLimited: reason !== 'DesiredWithinRange' },
      stabilized: { reason: stabilized },
    });
  });
});

describe('limitByBehavior', () => {
  const pods = (value: number, periodSeconds = 60) => ({ type: 'Pods', value, periodSeconds });
  const percent = (value: number) => ({ type: 'Percent', value, periodSeconds: 60 });
  const up = (selectPolicy: string, ...policies: object[]) =>
    behavior({
      desiredReplicas: 50,
      scaleUp: { stabilizationWindowSeconds: 0, selectPolicy, policies: policies as [] },
    });

  it('selects among the policies', () => {
    expect(limitByBehavior(up('Max', pods(2), percent(100))).replicas).toBe(10);
    expect(limitByBehavior(up('Min', pods(2), percent(100))).replicas).toBe(7);
    expect(limitByBehavior(up('Disabled', pods(2)))).toMatchObject({
      replicas: 5,
      limited: { reason: 'ScaleUpLimit', isLimited: true },
    });
  });

  it('counts earlier changes of the period', () => {
    const scaleUps = [
      { count: 1, atMs: nowMs - 30_000 },
      { count: 9, atMs: nowMs - 61_000 },
    ];
    expect(limitByBehavior({ ...up('Max', pods(4)), scaleUps }).replicas).toBe(8);
    const scaleDown = {
      stabilizationWindowSeconds: 0,
      selectPolicy: 'Max',
      policies: [percent(50)],
    };
    const scaleDowns = [{ count: 3, atMs: nowMs - 1_000 }];
    const down = behavior({ desiredReplicas: 1, scaleDown, scaleDowns });
    expect(limitByBehavior(down)).toMatchObject({
      replicas: 4,
      limited: { reason: 'ScaleDownLimit' },
    });
  });

  it('stabilizes in both directions', () => {
    const recommendations = [
      { replicas: 3, atMs: nowMs - 10_000 },
      { replicas: 8, atMs: nowMs - 10_000 },
    ];
    const window = { stabilizationWindowSeconds: 20, policies: [pods(100)] };
    const both = { scaleUp: window, scaleDown: window, recommendations };
    expect(limitByBehavior(behavior({ ...both, desiredReplicas: 9 }))).toMatchObject({
      replicas: 5,
      stabilized: { reason: 'ScaleUpStabilized' },
    });
    expect(limitByBehavior(behavior({ ...both, desiredReplicas: 1 }))).toMatchObject({
      replicas: 5,
      stabilized: { reason: 'ScaleDownStabilized' },
    });
  });
});

describe('every limit', () => {
  const policy = fc.record({
    type: fc.constantFrom('Pods', 'Percent'),
    value: fc.integer({ min: 1, max: 300 }),
    periodSeconds: fc.integer({ min: 1, max: 1800 }),
  });
  const rules = fc.record({
    stabilizationWindowSeconds: fc.nat(3600),
    selectPolicy: fc.constantFrom('Max', 'Min', 'Disabled'),
    policies: fc.array(policy, { minLength: 1, maxLength: 3 }),
  });
  const changes = fc.array(
    fc.record({
      count: fc.integer({ min: 1, max: 20 }),
      atMs: fc.nat(3_600_000).map((ageMs) => nowMs - ageMs),
    }),
    { maxLength: 4 },
  );
  const states = fc
    .record({
      minReplicas: fc.integer({ min: 1, max: 50 }),
      span: fc.nat(100),
      current: fc.nat(1_000),
      desiredReplicas: fc.nat(500),
      recommendations: fc.array(
        fc.record({ replicas: fc.nat(300), atMs: fc.nat(3_600_000).map((age) => nowMs - age) }),
        { maxLength: 6 },
      ),
      scaleUp: rules,
      scaleDown: rules,
      scaleUps: changes,
      scaleDowns: changes,
    })
    .map(({ span, current, ...more }) => ({
      ...more,
      maxReplicas: more.minReplicas + span,
      currentReplicas: more.minReplicas + (current % (span + 1)),
      nowMs,
    }));

  it('stays within the bounds and the policies', { timeout: stateTimeoutMs }, () => {
    const property = fc.property(states, (state) => {
      const { minReplicas, maxReplicas, currentReplicas } = state;
      const results = [limitByDefault(state, 300_000).replicas, limitByBehavior(state).replicas];
      for (const replicas of results) {
        expect(replicas).toBeGreaterThanOrEqual(minReplicas);
        expect(replicas).toBeLessThanOrEqual(maxReplicas);
        expect(Number.isInteger(replicas)).toBe(true);
      }
      const [byDefault = 0, byBehavior = 0] = results;
      expect(byDefault).toBeLessThanOrEqual(Math.max(2 * currentReplicas, 4));
      if (state.scaleUp.selectPolicy === 'Disabled') {
        expect(byBehavior).toBeLessThanOrEqual(currentReplicas);
      }
      if (state.scaleDown.selectPolicy === 'Disabled') {
        expect(byBehavior).toBeGreaterThanOrEqual(currentReplicas);
      }
      const most = Math.max(
        ...state.scaleUp.policies.map(({ type, value }) =>
          type === 'Pods' ? value : Math.ceil((currentReplicas * value) / 100),
        ),
      );
      expect(byBehavior - currentReplicas).toBeLessThanOrEqual(most);
    });
    fc.assert(property, { numRuns: stateCount });
  });
});

describe('ScalingHistory', () => {
  it('keeps the window, and counts the future as now when the clock goes back', () => {
    const history = new ScalingHistory();
    history.begin(3, nowMs);
    history.begin(9, nowMs);
    history.recommend(4, nowMs + 86_400_000, 300_000);
    expect(history.recommendations).toEqual([{ replicas: 4, atMs: nowMs + 86_400_000 }]);
    history.recommend(5, nowMs, 300_000);
    expect(history.recommendations.map(({ atMs }) => atMs)).toEqual([nowMs, nowMs]);
  });
});
