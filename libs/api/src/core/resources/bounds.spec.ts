import type { LimitRange, ResourceQuota } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import { cells, create, update } from '../../testing/write.js';
import { limitRange } from './limit-range.js';
import { resourceQuota } from './resource-quota.js';

describe('limit ranges', () => {
  const of = (...limits: object[]) => create<LimitRange>(limitRange, { spec: { limits } });
  const at = 'spec.limits[0]';
  it('default limits to the maximum, and requests to limits', () => {
    const item = (change: object) => of({ type: 'Container', ...change }).object.spec?.limits?.[0];
    expect(
      item({ max: { cpu: '5' }, min: { memory: '1Mi', cpu: '1' }, default: { memory: '2Mi' } }),
    ).toMatchObject({
      default: { cpu: '5', memory: '2Mi' },
      defaultRequest: { cpu: '5', memory: '2Mi' },
    });
    expect(item({ min: { cpu: '1' } })).toEqual({
      type: 'Container',
      min: { cpu: '1' },
      defaultRequest: { cpu: '1' },
    });
    expect(of({ type: 'Pod', max: { cpu: '2' } }).object.spec?.limits).toEqual([
      { type: 'Pod', max: { cpu: '2' } },
    ]);
  });
  it('use their uid as the name if they have none', () => {
    const { object } = create<LimitRange>(limitRange, {
      metadata: { generateName: 'a-', uid: 'u' },
    });
    expect(object.metadata?.name).toBe('u');
  });
  it.each<[object, string[]]>([
    [
      { type: 'Other' },
      [`${at}.type: Invalid value: "Other": must be a standard limit type or fully qualified`],
    ],
    [{ type: 'example.com/Other', max: { storage: '1' } }, []],
    [
      { type: 'Pod', default: { cpu: '1' }, max: { storage: '1' } },
      [
        `${at}.max[storage]: Invalid value: "storage": must be a standard resource for containers`,
        `${at}.default: Forbidden: may not be specified when \`type\` is 'Pod'`,
      ],
    ],
    [
      { type: 'PersistentVolumeClaim' },
      [
        `${at}.limits: Required value: either minimum or maximum storage value is required, but neither was provided`,
      ],
    ],
    [
      { type: 'Container', min: { cpu: '4' }, max: { cpu: '3' } },
      [
        `${at}.min[cpu]: Invalid value: "4": min value 4 is greater than max value 3`,
        `${at}.defaultRequest[cpu]: Invalid value: "3": min value 4 is greater than default request value 3`,
        `${at}.default[cpu]: Invalid value: "4": min value 4 is greater than default value 3`,
      ],
    ],
    [
      { type: 'Container', default: { cpu: '2' }, defaultRequest: { cpu: '3' }, max: { cpu: '1' } },
      [
        `${at}.defaultRequest[cpu]: Invalid value: "3": default request value 3 is greater than max value 1`,
        `${at}.defaultRequest[cpu]: Invalid value: "3": default request value 3 is greater than default limit value 2`,
        `${at}.default[cpu]: Invalid value: "1": default value 2 is greater than max value 1`,
      ],
    ],
    [
      {
        type: 'Pod',
        maxLimitRequestRatio: { cpu: '500m', memory: '3' },
        min: { memory: '1Gi' },
        max: { memory: '2Gi' },
      },
      [
        `${at}.maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1`,
        `${at}.maxLimitRequestRatio[memory]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000`,
      ],
    ],
    [
      { type: 'Container', default: { 'x.com/gpu': '2' }, defaultRequest: { 'x.com/gpu': '1' } },
      [
        `${at}.defaultRequest[x.com/gpu]: Invalid value: "1": default value 2 must equal to defaultRequest value 1 in x.com/gpu`,
      ],
    ],
  ])('reject %j', (item, messages) => {
    expect(of(item).errors).toEqual(messages);
  });
  it('reject two items of one type', () => {
    expect(of({ type: 'Pod' }, { type: 'Pod' }).errors).toEqual([
      'spec.limits[1].type: Duplicate value: "Pod"',
    ]);
  });
});

describe('resource quotas', () => {
  const errorsOf = (spec: object) => create<ResourceQuota>(resourceQuota, { spec }).errors;
  const selector = (...matchExpressions: object[]) => ({ scopeSelector: { matchExpressions } });
  const at = 'spec.scopeSelector.matchExpressions';
  it.each<[object, string[]]>([
    [{ hard: { 'count/deployments.apps': '1', 'requests.hugepages-2Mi': '0' } }, []],
    [
      { hard: { storage: '1', odd: '1', pods: '500m', secrets: '-1' } },
      [
        'spec.hard[odd]: Invalid value: "odd": must be a standard resource type or fully qualified',
        'spec.hard[odd]: Invalid value: "odd": must be a standard resource for quota',
        'spec.hard[pods]: Invalid value: "500m": must be an integer',
        'spec.hard[secrets]: Invalid value: "-1": must be greater than or equal to 0',
        'spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota',
      ],
    ],
    [{ scopes: ['Odd'] }, ['spec.scopes: Invalid value: []string{"Odd"}: unsupported scope']],
    [
      { hard: { pods: '1', cpu: '1' }, scopes: ['BestEffort', 'NotBestEffort'] },
      [
        'spec.scopes: Invalid value: []string{"BestEffort", "NotBestEffort"}: unsupported scope applied to resource',
        'spec.scopes: Invalid value: []string{"BestEffort", "NotBestEffort"}: conflicting scopes',
      ],
    ],
    [
      selector({ scopeName: 'Terminating', operator: 'In' }),
      [
        expect.stringContaining(`${at}.operator: Invalid value: "In": must be 'Exist'`) as string,
        `${at}.values: Required value: must be at least one value when \`operator\` is 'In' or 'NotIn' for scope selector`,
      ],
    ],
    [
      selector({ scopeName: 'PriorityClass', operator: 'Exists', values: ['a'] }),
      [
        `${at}.values: Invalid value: []string{"a"}: must be no value when \`operator\` is 'Exist' or 'DoesNotExist' for scope selector`,
      ],
    ],
    [
      selector({ scopeName: 'Odd', operator: 'Near' }),
      [
        `${at}.scopeName: Invalid value: "Odd": unsupported scope`,
        `${at}.operator: Invalid value: "Near": not a valid selector operator`,
      ],
    ],
  ])('%j', (spec, messages) => {
    expect(errorsOf(spec)).toEqual(messages);
  });
  it('reject a change of scopes, and ignore a status at creation', () => {
    const { object } = create<ResourceQuota>(resourceQuota, {
      spec: { scopes: ['NotBestEffort', 'Terminating'] },
      status: { hard: { pods: '1' } },
    });
    expect(object.status).toEqual({});
    const set = (scopes: string[]) =>
      update<ResourceQuota>(resourceQuota, object, (changed) => {
        changed.spec!.scopes = scopes;
      }).errors;
    expect(set(['Terminating', 'NotBestEffort'])).toEqual([]);
    expect(set(['Terminating'])).toEqual([
      'spec.scopes: Invalid value: []string{"Terminating"}: field is immutable',
    ]);
  });
  it('show usage and limits', () => {
    const hard = { pods: '2', 'limits.cpu': '3', configmaps: '1' };
    expect(cells(resourceQuota, { status: { hard, used: { pods: '1' } } } as object)).toMatchObject(
      { Request: 'configmaps: 0/1, pods: 1/2', Limit: 'limits.cpu: 0/3' },
    );
  });
});
