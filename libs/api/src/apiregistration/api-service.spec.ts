import type { APIService } from '@orch/types/apiregistration/v1';
import { describe, expect, it } from 'vitest';
import { definitions } from '../definitions.js';
import { cells, create, now, updatePart } from '../testing/write.js';
import { apiServiceKind } from './api-service.js';
import { availabilityCondition, discoveredAvailability, missingAddress } from './availability.js';
import { localApiService } from './local-services.js';

const service = { namespace: 'ns', name: 'a' };
const spec = { group: 'example.com', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1 };
const createService = (change: object = {}, name = 'v1.example.com') =>
  create<APIService>(apiServiceKind, { metadata: { name }, spec: { ...spec, ...change } });

describe('API services', () => {
  it('of this server are available immediately', () => {
    const { object, errors } = createService();
    expect(errors).toEqual([]);
    expect(object.status?.conditions).toEqual([
      {
        type: 'Available',
        status: 'True',
        reason: 'Local',
        message: 'Local APIServices are always available',
        lastTransitionTime: now,
      },
    ]);
    expect(cells(apiServiceKind, object)).toMatchObject({ Service: 'Local', Available: 'True' });
  });

  it('of other servers are unknown at first', () => {
    const { object, errors } = createService({ service });
    expect(errors).toEqual([]);
    expect(object).toMatchObject({ status: {}, spec: { service: { port: 443 } } });
    expect(cells(apiServiceKind, object)).toMatchObject({ Service: 'ns/a', Available: 'Unknown' });
  });

  it.each<[object, string[]]>([
    [
      { group: '', version: 'v2' },
      [
        'metadata.name: Invalid value: "v1.example.com": must be `spec.version+"."+spec.group`: "v2."',
        'spec.group: Required value: only v1 may have an empty group and it better be legacy kube',
      ],
    ],
    [
      { groupPriorityMinimum: 20_001, versionPriority: 0 },
      [
        'spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000',
        'spec.versionPriority: Invalid value: 0: must be positive and less than 1000',
      ],
    ],
    [
      { caBundle: 'AAAA', insecureSkipTLSVerify: true },
      [
        'spec.caBundle: Invalid value: "3 bytes": local APIServices may not have a caBundle',
        'spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify',
      ],
    ],
    [
      { service: { port: 0 }, caBundle: 'AAAA', insecureSkipTLSVerify: true },
      [
        'spec.service.namespace: Required value',
        'spec.service.name: Required value',
        'spec.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive',
        'spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present',
      ],
    ],
  ])('reject %j', (change, messages) => {
    expect(createService(change).errors).toEqual(messages);
  });

  it('keep everything but the status on status writes', () => {
    const { object } = createService({ service });
    const written = updatePart(apiServiceKind, 'status', object, (draft) => {
      draft.metadata!.labels = { a: 'b' };
      draft.spec!.versionPriority = 9;
      draft.status = { conditions: [{ type: 'Available', status: 'Maybe' }] };
    });
    expect(written.object.metadata?.labels).toBeUndefined();
    expect(written.object.spec).toEqual(object.spec);
    expect(written.errors).toEqual([
      'status.conditions[0].status: Unsupported value: "Maybe": supported values: "True", "False", "Unknown"',
    ]);
  });

  it('report why they are unavailable', () => {
    const { object } = createService({ service });
    const target = { spec: { type: 'ClusterIP', ports: [{ port: 443, name: 'https' }] } };
    const reference = object.spec!.service!;
    const ready = [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 1, name: 'https' }] }];
    const reasons = [
      missingAddress(reference, undefined, undefined),
      missingAddress(reference, { spec: { type: 'ClusterIP' } }, undefined),
      missingAddress(reference, target, undefined),
      missingAddress(reference, target, {}),
      missingAddress(reference, target, { subsets: ready }),
      discoveredAvailability('no response'),
      discoveredAvailability(undefined),
    ].map((availability) => availability?.reason);
    expect(reasons).toEqual([
      'ServiceNotFound',
      'ServicePortError',
      'EndpointsNotFound',
      'MissingEndpoints',
      undefined,
      'FailedDiscoveryCheck',
      'Passed',
    ]);
  });

  it('update the condition only on a change, with its time', () => {
    const { object } = createService({ service });
    const absent = missingAddress(object.spec!.service!, undefined, undefined)!;
    const first = availabilityCondition(object, absent, now)!;
    object.status = { conditions: [first] };
    expect(availabilityCondition(object, absent, '2027')).toBeUndefined();
    const next = availabilityCondition(object, discoveredAvailability('no response'), '2027');
    expect(next?.lastTransitionTime).toBe(now);
  });

  it('exist for every served version', () => {
    for (const { versions } of definitions) {
      for (const { group, version } of versions) {
        const local = localApiService(group, version);
        if (local) expect(create(apiServiceKind, local).errors).toEqual([]);
        else expect(group).toBe('apiregistration');
      }
    }
    expect(localApiService('core', 'v1')?.metadata?.name).toBe('v1.');
  });

  it('have the lowest priority for unknown groups, stable versions first', () => {
    const specOf = (version: string) => localApiService('archive', version)?.spec;
    const lowest = localApiService('internal.apiserver', 'v1alpha1')?.spec;
    expect(specOf('v1')?.groupPriorityMinimum).toBeLessThan(lowest!.groupPriorityMinimum);
    const order = ['v1', 'v1beta1', 'v1alpha1'].map((version) => specOf(version)!.versionPriority);
    expect(order).toEqual([...order].sort((a, b) => b - a));
    expect(new Set(order).size).toBe(3);
  });
});
