import type { PodDisruptionBudget } from '@orch/types/policy/v1';
import { describe, expect, it } from 'vitest';
import { cells, create, decode, requestContext, update } from '../testing/write.js';
import { podDisruptionBudget } from './pod-disruption-budget.js';

const [stable, beta] = podDisruptionBudget.versions;
const standIn = 'pdb.orch.io/deprecated-v1beta1-empty-selector-match';
const errorsOf = (spec: object) => create(podDisruptionBudget, { spec }).errors;

describe('disruption budgets', () => {
  it('start with an empty status and count changes of the spec', () => {
    const { object, errors } = create<PodDisruptionBudget>(podDisruptionBudget, {
      metadata: { name: 'x', generation: 1 },
      spec: { maxUnavailable: 1 },
      status: { disruptionsAllowed: 3 },
    });
    expect(errors).toEqual([]);
    expect(object.status).toEqual({
      disruptionsAllowed: 0,
      currentHealthy: 0,
      desiredHealthy: 0,
      expectedPods: 0,
    });
    const changed = update(podDisruptionBudget, object, (draft: PodDisruptionBudget) => {
      draft.spec!.maxUnavailable = '10%';
    }).object;
    expect(changed.metadata?.generation).toBe(2);
    expect(
      update(podDisruptionBudget, changed, (draft: PodDisruptionBudget) => {
        draft.metadata!.labels = { a: 'b' };
        delete draft.status;
      }).object,
    ).toMatchObject({ metadata: { generation: 2 }, status: object.status });
    expect(cells(podDisruptionBudget, changed)).toMatchObject({
      'Min Available': 'N/A',
      'Max Unavailable': '10%',
      'Allowed Disruptions': 0,
    });
  });

  it.each<[object, string[]]>([
    [
      { minAvailable: 1, maxUnavailable: 1 },
      [
        expect.stringMatching(
          /^spec: Invalid value: .*: minAvailable and maxUnavailable cannot be both set$/,
        ) as string,
      ],
    ],
    [
      { minAvailable: -1 },
      ['spec.minAvailable: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      { maxUnavailable: '101%' },
      ['spec.maxUnavailable: Invalid value: "101%": must not be greater than 100%'],
    ],
    [
      { maxUnavailable: 'x' },
      [
        expect.stringMatching(
          /^spec\.maxUnavailable: Invalid value: "x": a valid percent string/,
        ) as string,
      ],
    ],
    [
      { selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
      [
        "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      ],
    ],
  ])('reject %j', (spec, messages) => {
    expect(errorsOf(spec)).toEqual(messages);
  });

  it('accept any path segment as name', () => {
    const named = (name: string) => create(podDisruptionBudget, { metadata: { name } }).errors;
    expect(named('Any_Name')).toEqual([]);
    expect(named('..')).toEqual(['metadata.name: Invalid value: "..": may not be \'..\'']);
    expect(named('a/b%')).toEqual([
      'metadata.name: Invalid value: "a/b%": may not contain \'/\'',
      'metadata.name: Invalid value: "a/b%": may not contain \'%\'',
    ]);
  });

  it('validate their status in the newer version', () => {
    const status = {
      disruptionsAllowed: -1,
      conditions: [
        { type: 'a b', status: 'Maybe', observedGeneration: -1, reason: '9', message: '' },
        { type: 'A', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z', reason: 'B' },
        { type: 'A', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z', reason: '' },
      ],
    };
    const fields = (version: typeof beta) =>
      podDisruptionBudget.status
        ?.validateUpdate?.({ status } as object, {}, requestContext(version))
        .map(({ field }) => field);
    const ofConditions = [
      'status.conditions[0].type',
      'status.conditions[0].status',
      'status.conditions[0].observedGeneration',
      'status.conditions[0].lastTransitionTime',
      'status.conditions[0].reason',
      'status.conditions[2].type',
      'status.conditions[2].reason',
    ];
    expect(fields(beta)).toEqual(ofConditions);
    expect(fields(stable)).toEqual([...ofConditions, 'status.disruptionsAllowed']);
  });

  it.each<[string, object | undefined, object | undefined]>([
    ['nothing', {}, { matchExpressions: [{ key: standIn, operator: 'Exists' }] }],
    ['everything', { matchExpressions: [{ key: standIn, operator: 'DoesNotExist' }] }, {}],
    ['unset', undefined, undefined],
    ['some', { matchLabels: { a: 'b' } }, { matchLabels: { a: 'b' } }],
    [
      'some by expressions',
      { matchExpressions: [{ key: 'a', operator: 'Exists' }] },
      { matchExpressions: [{ key: 'a', operator: 'Exists' }] },
    ],
  ])('select %s in both versions', (_what, betaSelector, selector) => {
    const stored = decode<PodDisruptionBudget>(
      podDisruptionBudget,
      { spec: { selector: betaSelector } },
      beta,
    );
    expect(stored.spec?.selector).toEqual(selector);
    const back = beta!.fromStored!(stored) as PodDisruptionBudget;
    expect(back.spec?.selector).toEqual(betaSelector);
  });
});
