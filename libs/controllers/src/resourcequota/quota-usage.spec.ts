import { quotaEvaluator } from '@orch/apimachinery';
import type { Pod, ResourceQuota } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import {
  countedResources,
  isLower,
  recountedStatus,
  usageOfCount,
  usageOfObjects,
} from './quota-usage.js';

const quota = (hard: Record<string, string>, spec: object = {}): ResourceQuota => ({
  spec: { hard, ...spec },
});
const pod = (cpu: string, phase = 'Running'): Pod =>
  ({
    spec: { containers: [{ name: 'a', resources: { requests: { cpu } } }] },
    status: { phase },
  }) as Pod;
const pods = quotaEvaluator([{ group: '', resource: 'pods' }]);
const secrets = quotaEvaluator([{ group: '', resource: 'secrets' }]);

describe('a recount', () => {
  it('maps the names of quotas to resources', () => {
    const names = ['limits.cpu', 'count/pods', 'secrets', 'count/secrets', 'count/jobs.batch'];
    const storage = 'gold.storageclass.storage.orch.io/requests.storage';
    expect(countedResources([...names, storage, 'nothing'])).toEqual([
      { group: '', resource: 'pods' },
      { group: '', resource: 'persistentvolumeclaims' },
      { group: '', resource: 'secrets' },
      { group: 'batch', resource: 'jobs' },
    ]);
  });

  it('adds the usage of objects in scope that still count', () => {
    const q = quota({ pods: '9', 'requests.cpu': '9', 'count/pods': '9' });
    const objects = [pod('1'), pod('500m'), pod('5', 'Failed')];
    expect(usageOfObjects(q, pods, objects, 0)).toEqual({
      pods: '2',
      'requests.cpu': '1500m',
      'count/pods': '3',
    });
    const scoped = quota({ pods: '9' }, { scopes: ['BestEffort'] });
    expect(usageOfObjects(scoped, pods, objects, 0)).toEqual({ pods: '0' });
  });

  it('says zero where there is nothing', () => {
    expect(usageOfObjects(quota({ pods: '9' }), pods, [], 0)).toEqual({ pods: '0' });
  });

  it('counts resources by number, except in quotas with scopes', () => {
    const hard = { secrets: '1', 'count/secrets': '1', pods: '1' };
    expect(usageOfCount(quota(hard), secrets, 3)).toEqual({ secrets: '3', 'count/secrets': '3' });
    const scoped = quota({ secrets: '1' }, { scopes: ['BestEffort'] });
    expect(usageOfCount(scoped, secrets, 3)).toEqual({ secrets: '0' });
  });

  it('is written when it says something else', () => {
    const q = quota({ pods: '2' });
    expect(recountedStatus(q, { pods: '1' })).toEqual({ hard: { pods: '2' }, used: { pods: '1' } });
    q.status = { hard: { pods: '2' }, used: { pods: '1' } };
    expect(recountedStatus(q, { pods: '1' })).toBeUndefined();
    expect(recountedStatus(quota({ pods: '3' }), { pods: '1' })).toBeDefined();
  });

  it('is lower when anything is', () => {
    const before = { used: { pods: '2', 'requests.cpu': '1' } };
    expect(isLower(before, { pods: '2', 'requests.cpu': '1000m' })).toBe(false);
    expect(isLower(before, { pods: '3', 'requests.cpu': '999m' })).toBe(true);
    expect(isLower(undefined, { pods: '0' })).toBe(false);
  });
});
