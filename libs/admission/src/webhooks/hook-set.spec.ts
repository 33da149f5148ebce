import { dialect } from '@orch/component';
import type { AdmissionOperation } from '@orch/registry';
import { describe, expect, it } from 'vitest';
import { configMaps, servedOf, webhook } from '../testing/reviewing.js';
import { compileHooks } from './hook.js';
import { HookSet } from './hook-set.js';

const rule = {
  apiGroups: ['autoscaling'],
  apiVersions: ['v2beta2'],
  operations: ['CREATE'],
  resources: ['horizontalpodautoscalers'],
};
const configurationGroup = dialect().group('admissionregistration');
const scalers = servedOf('autoscaling', 'v1', 'horizontalpodautoscalers');
const deployments = servedOf('apps', 'v1', 'deployments');
const namespaces = servedOf('', 'v1', 'namespaces');

function setOf(...webhooks: Parameters<typeof webhook>[1][]) {
  const named = webhooks.map((fields, index) => webhook(`w${index}`, fields));
  return new HookSet(compileHooks({ metadata: { name: 'c' }, webhooks: named }));
}

function namesOf(
  set: HookSet,
  served: typeof configMaps,
  subresource = '',
  operation: AdmissionOperation = 'CREATE',
) {
  return set.candidates(served, subresource, operation).map(({ hook }) => hook.name);
}

describe('HookSet', () => {
  it('selects hooks by operation, resource and subresource, in their order', () => {
    const anyRule = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'] };
    const set = setOf(
      { rules: [{ ...anyRule, resources: ['deployments/*'] }] },
      { rules: [{ ...anyRule, resources: ['*'] }] },
      { rules: [{ ...anyRule, resources: ['*/scale'] }] },
      { rules: [{ ...anyRule, operations: ['DELETE'], resources: ['*/*'] }] },
    );
    expect(namesOf(set, deployments)).toEqual(['w0', 'w1']);
    expect(namesOf(set, deployments, 'scale')).toEqual(['w0', 'w2']);
    expect(namesOf(set, deployments, '', 'DELETE')).toEqual(['w0', 'w1', 'w3']);
    expect(namesOf(set, configMaps, 'scale', 'CONNECT')).toEqual(['w2']);
  });

  it('shows requests for other versions in the version of the rule, unless the match is exact', () => {
    const set = setOf({ rules: [rule] }, { rules: [rule], matchPolicy: 'Exact' });
    const [candidate, ...others] = set.candidates(scalers, '', 'CREATE');
    expect([candidate?.hook.name, candidate?.target.version]).toEqual(['w0', 'v2beta2']);
    expect(others).toEqual([]);
    const same = servedOf('autoscaling', 'v2beta2', 'horizontalpodautoscalers');
    expect(namesOf(set, same)).toEqual(['w0', 'w1']);
  });

  it('counts namespaces as cluster-scoped', () => {
    const all = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] };
    const set = setOf(
      { rules: [{ ...all, scope: 'Namespaced' }] },
      { rules: [{ ...all, scope: 'Cluster' }] },
    );
    expect(namesOf(set, namespaces)).toEqual(['w1']);
    expect(namesOf(set, configMaps)).toEqual(['w0']);
  });

  it('exempts webhook configurations, so that a webhook cannot prevent its removal', () => {
    const all = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] };
    const configurations = servedOf(configurationGroup, 'v1', 'validatingwebhookconfigurations');
    expect(namesOf(setOf({ rules: [all] }), configurations, '', 'DELETE')).toEqual([]);
  });

  it('looks a request up that it has seen before', () => {
    const set = setOf({});
    const first = set.candidates(configMaps, '', 'CREATE');
    expect(set.candidates(configMaps, '', 'CREATE')).toBe(first);
  });
});
