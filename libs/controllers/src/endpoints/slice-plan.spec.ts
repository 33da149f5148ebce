import type { Pod, Service } from '@orch/types/core/v1';
import type { EndpointSlice } from '@orch/types/discovery/v1';
import { describe, expect, it } from 'vitest';
import { at, epochMs, pod, service } from '../../test/objects.js';
import { planSlices } from './slice-plan.js';

const http = { port: 80, targetPort: 8080 };
const identified = (spec: NonNullable<Service['spec']>): Service => {
  const made = service({ clusterIP: '10.96.0.1', ipFamilies: ['IPv4'], ...spec });
  return { ...made, metadata: { ...made.metadata, uid: 'service-1', labels: { team: 'red' } } };
};
const plan = (owner: Service, pods: Pod[], existing: EndpointSlice[] = []) =>
  planSlices({
    service: owner,
    pods,
    existing,
    zoneOf: (node) => (node === 'n' ? 'east' : undefined),
    endpointCountMax: 2,
    triggerMs: epochMs,
  });
const stored = (slices: readonly EndpointSlice[]) =>
  slices.map((slice, index) => ({
    ...slice,
    metadata: { ...slice.metadata, name: slice.metadata?.name ?? `web-${index}` },
  }));
const ipsOf = (slice: EndpointSlice | undefined) =>
  slice?.endpoints?.flatMap(({ addresses = [] }) => addresses);

describe('planSlices', () => {
  it('creates slices with labels, owner, zone and trigger time', () => {
    const [slice] = plan(identified({ ports: [http] }), [
      pod({ ip: '10.0.0.1', node: 'n' }),
    ]).creates;
    expect(slice).toMatchObject({
      metadata: {
        generateName: 'web-',
        labels: {
          team: 'red',
          'orch.io/service-name': 'web',
          'endpointslice.orch.io/managed-by': 'endpointslice-controller.orch.io',
        },
        annotations: { 'endpoints.orch.io/last-change-trigger-time': at(0) },
        ownerReferences: [{ kind: 'Service', uid: 'service-1', controller: true }],
      },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true }, zone: 'east' }],
      ports: [{ name: '', port: 8080, protocol: 'TCP' }],
    });
  });

  it('lists unready pods as not ready, unless the service publishes them', () => {
    const pods = [pod({ ip: '10.0.0.1', ready: false }), pod({ ip: '10.0.0.2', deleting: true })];
    const ready = (owner: Service) =>
      plan(owner, pods).creates[0]?.endpoints?.map(({ conditions }) => conditions?.ready);
    expect(ready(identified({ ports: [http] }))).toEqual([false]);
    expect(ready(identified({ ports: [http], publishNotReadyAddresses: true }))).toEqual([
      true,
      true,
    ]);
  });

  it('has one slice without endpoints for a service without pods, and leaves it as it is', () => {
    const owner = identified({ ports: [http] });
    const { creates } = plan(owner, []);
    expect(creates).toHaveLength(1);
    expect(creates[0]).toMatchObject({ endpoints: [], ports: [] });
    expect(plan(owner, [], stored(creates))).toEqual({ creates: [], updates: [], deletes: [] });
  });

  it('reuses the empty slice for the first endpoints, and the last slice when they disappear', () => {
    const owner = identified({ ports: [http] });
    const empty = stored(plan(owner, []).creates);
    const filled = plan(owner, [pod({ ip: '10.0.0.1' })], empty);
    expect(filled).toMatchObject({ creates: [], deletes: [] });
    expect(filled.updates).toMatchObject([
      { metadata: { name: 'web-0' }, ports: [{ port: 8080 }] },
    ]);
    const emptied = plan(owner, [], stored(filled.updates));
    expect(emptied).toMatchObject({ creates: [], deletes: [] });
    expect(emptied.updates).toMatchObject([{ metadata: { name: 'web-0' }, endpoints: [] }]);
  });

  it('separates pods whose named port has different numbers', () => {
    const named = (ip: string, containerPort: number) =>
      pod({
        ip,
        spec: { containers: [{ name: 'c', image: 'i', ports: [{ name: 'web', containerPort }] }] },
      });
    const owner = identified({ ports: [{ name: 'http', port: 80, targetPort: 'web' }] });
    const { creates } = plan(owner, [named('10.0.0.1', 8080), named('10.0.0.2', 9090)]);
    expect(creates.map((slice) => [ipsOf(slice), slice.ports?.[0]?.port])).toEqual([
      [['10.0.0.1'], 8080],
      [['10.0.0.2'], 9090],
    ]);
  });

  it('has slices of each family for a dual-stack service, with the addresses of the family', () => {
    const dual = pod({ ip: '10.0.0.1' });
    dual.status!.podIPs = [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }];
    const owner = identified({ ports: [http], ipFamilies: ['IPv4', 'IPv6'] });
    const { creates } = plan(owner, [dual]);
    expect(creates.map((slice) => [slice.addressType, ipsOf(slice)])).toEqual([
      ['IPv4', ['10.0.0.1']],
      ['IPv6', ['fd00::1']],
    ]);
    const { deletes } = plan(identified({ ports: [http] }), [dual], stored(creates));
    expect(deletes.map(({ addressType }) => addressType)).toEqual(['IPv6']);
  });

  it('labels the slices of a headless service and follows changed labels', () => {
    const pods = [pod({ ip: '10.0.0.1' })];
    const headless = identified({ ports: [http], clusterIP: 'None' });
    const { creates } = plan(headless, pods);
    expect(creates[0]?.metadata?.labels).toHaveProperty(['service.orch.io/headless'], '');
    headless.metadata!.labels = { team: 'blue' };
    const { updates } = plan(headless, pods, stored(creates));
    expect(updates[0]?.metadata?.labels).toMatchObject({ team: 'blue' });
  });

  it('deletes the slices of an earlier service of the same name', () => {
    const owner = identified({ ports: [http] });
    const existing = stored(plan(owner, [pod({ ip: '10.0.0.1' })]).creates);
    existing[0]!.metadata!.ownerReferences![0]!.uid = 'service-0';
    expect(plan(owner, [pod({ ip: '10.0.0.1' })], existing)).toMatchObject({
      creates: [{ endpoints: [{ addresses: ['10.0.0.1'] }] }],
      updates: [],
      deletes: [{ metadata: { name: 'web-0' } }],
    });
  });

  it('creates nothing while the service is being deleted', () => {
    const owner = identified({ ports: [http] });
    owner.metadata!.deletionTimestamp = at(1);
    expect(plan(owner, [pod({ ip: '10.0.0.1' })]).creates).toEqual([]);
  });
});
