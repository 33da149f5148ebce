import { definitions } from '@orch/api';
import { ResourceTable } from '@orch/registry';
import { describe, expect, it } from 'vitest';
import { noAggregation } from '../testing/no-aggregation.js';
import { AggregatedDiscovery, aggregatedVersion } from './aggregated-discovery.js';

const wanted = 'application/json;g=apidiscovery.orch.io;v=v2;as=APIGroupDiscoveryList';

describe('aggregated discovery', () => {
  it.each([
    [`${wanted},application/json`, 'v2'],
    [`${wanted.replace('v=v2', 'v=v2beta1')}, */*`, 'v2beta1'],
    ['application/json', undefined],
    [`application/json,${wanted}`, undefined],
    [wanted.replace('v=v2', 'v=v3'), undefined],
    [wanted.replace('orch.io', 'example.com'), undefined],
    [wanted.replace('json', 'vnd.orch.protobuf'), undefined],
    [undefined, undefined],
  ])('is selected by the Accept header %s', (accept, version) => {
    expect(aggregatedVersion(accept)).toBe(version);
  });

  it('includes every version of every group, with its resources and their subresources', () => {
    const table = new ResourceTable(definitions);
    const groups = [{ name: 'apps', versions: [{ version: 'v1' }] }];
    const subresourcesOf = () => [
      {
        name: 'scale',
        kind: 'Scale',
        from: { groupHead: 'autoscaling', version: 'v1' },
        verbs: ['get'],
        longRunning: false,
        handle: async () => undefined,
      },
    ];
    const discovery = new AggregatedDiscovery({ ...noAggregation, table, subresourcesOf }, groups);
    const core = JSON.parse(String(discovery.document('api', 'v2').body));
    expect(core.items).toHaveLength(1);
    expect(
      core.items[0].versions[0].resources.map((entry: { resource: string }) => entry.resource),
    ).toEqual(
      table
        .inGroupVersion('', 'v1')
        .map(({ definition }) => definition.plural)
        .sort(),
    );
    const { apiVersion, items } = JSON.parse(String(discovery.document('apis', 'v2beta1').body));
    expect(apiVersion).toBe('apidiscovery.orch.io/v2beta1');
    expect(items[0]).toMatchObject({
      metadata: { name: 'apps', creationTimestamp: null },
      versions: [{ version: 'v1', freshness: 'Current' }],
    });
    const deployments = items[0].versions[0].resources.find(
      (entry: { resource: string }) => entry.resource === 'deployments',
    );
    expect(deployments).toEqual({
      resource: 'deployments',
      responseKind: { group: 'apps', version: 'v1', kind: 'Deployment' },
      scope: 'Namespaced',
      singularResource: 'deployment',
      verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
      shortNames: ['deploy'],
      categories: ['all'],
      subresources: [
        {
          subresource: 'scale',
          responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
          verbs: ['get'],
        },
      ],
    });
  });
});
