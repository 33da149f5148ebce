import type { EndpointSubset, Endpoints } from '@orch/types/core/v1';
import type { EndpointSlice } from '@orch/types/discovery/v1';
import { describe, expect, it } from 'vitest';
import { planMirror } from './mirror-plan.js';

const ports = [{ name: 'http', port: 80 }];
const written = (...subsets: EndpointSubset[]): Endpoints => ({
  metadata: { name: 'web', namespace: 'default', uid: 'endpoints-1', labels: { team: 'red' } },
  subsets,
});
const stored = (slices: readonly EndpointSlice[]) =>
  slices.map((slice, index) => ({
    ...slice,
    metadata: { ...slice.metadata, name: slice.metadata?.name ?? `web-${index}` },
  }));
const addresses = (...ips: string[]) => ips.map((ip) => ({ ip }));
const nothing = { creates: [], updates: [], deletes: [], invalidCount: 0, skippedCount: 0 };

describe('planMirror', () => {
  it('copies addresses, ports, labels and annotations, and then changes nothing', () => {
    const endpoints = written({
      addresses: addresses('192.0.2.7'),
      notReadyAddresses: addresses('192.0.2.8'),
      ports,
    });
    endpoints.metadata!.annotations = {
      note: 'x',
      'endpoints.orch.io/last-change-trigger-time': '2021-06-01T00:00:00Z',
      'kubectl.orch.io/last-applied-configuration': '{}',
    };
    const { creates } = planMirror(endpoints, [], 10);
    expect(creates).toMatchObject([
      {
        metadata: {
          labels: {
            team: 'red',
            'orch.io/service-name': 'web',
            'endpointslice.orch.io/managed-by': 'endpointslicemirroring-controller.orch.io',
          },
          ownerReferences: [{ kind: 'Endpoints', uid: 'endpoints-1', controller: true }],
        },
        endpoints: [
          { addresses: ['192.0.2.7'], conditions: { ready: true } },
          { addresses: ['192.0.2.8'], conditions: { ready: false } },
        ],
        ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
      },
    ]);
    expect(creates[0]?.metadata?.annotations).toEqual({ note: 'x' });
    expect(planMirror(endpoints, stored(creates), 10)).toEqual(nothing);
  });

  it('updates the slice when ports, addresses or labels change', () => {
    const { creates } = planMirror(written({ addresses: addresses('192.0.2.7'), ports }), [], 10);
    const changed = written({ addresses: addresses('192.0.2.9'), ports: [{ port: 81 }] });
    expect(planMirror(changed, stored(creates), 10)).toMatchObject({
      creates: [],
      updates: [{ metadata: { name: 'web-0' }, endpoints: [{ addresses: ['192.0.2.9'] }] }],
      deletes: [],
    });
    const relabelled = written({ addresses: addresses('192.0.2.7'), ports });
    relabelled.metadata!.labels = {};
    const [updated] = planMirror(relabelled, stored(creates), 10).updates;
    expect(updated?.metadata?.labels).not.toHaveProperty('team');
  });

  it('has one slice for each family and subset', () => {
    const endpoints = written(
      { addresses: addresses('192.0.2.7', 'fd00::1'), ports },
      { addresses: addresses('192.0.2.8'), ports: [{ port: 90 }] },
    );
    const { creates } = planMirror(endpoints, [], 10);
    expect(creates.map(({ addressType, ports: [port] = [] }) => [addressType, port?.port])).toEqual(
      [
        ['IPv4', 80],
        ['IPv6', 80],
        ['IPv4', 90],
      ],
    );
  });

  it('counts the addresses above the limit and settles, with subsets of equal ports too', () => {
    const endpoints = written(
      { addresses: addresses('192.0.2.1', '192.0.2.2', '192.0.2.3'), ports },
      { addresses: addresses('192.0.2.4'), ports },
    );
    const plan = planMirror(endpoints, [], 2);
    expect(plan).toMatchObject({ invalidCount: 0, skippedCount: 1 });
    expect(plan.creates.map((slice) => slice.endpoints?.length)).toEqual([2]);
    expect(planMirror(endpoints, stored(plan.creates), 2)).toEqual({ ...nothing, skippedCount: 1 });
  });

  it('skips invalid addresses', () => {
    const endpoints = written({ addresses: addresses('nowhere', '192.0.2.7'), ports });
    const { creates, invalidCount, skippedCount } = planMirror(endpoints, [], 1);
    expect([invalidCount, skippedCount]).toEqual([1, 1]);
    expect(creates[0]?.endpoints).toMatchObject([{ addresses: ['192.0.2.7'] }]);
  });

  it('deletes surplus slices and those of removed subsets', () => {
    const endpoints = written({ addresses: addresses('192.0.2.7'), ports });
    const [slice] = stored(planMirror(endpoints, [], 10).creates);
    const surplus = { ...slice!, metadata: { ...slice!.metadata, name: 'surplus' } };
    expect(planMirror(endpoints, [slice!, surplus], 10)).toEqual({
      ...nothing,
      deletes: [surplus],
    });
    expect(planMirror(written(), [slice!], 10)).toEqual({ ...nothing, deletes: [slice] });
  });
});
