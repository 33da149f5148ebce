import { describe, expect, it } from 'vitest';
import { at, epochMs, pod, service } from '../../test/objects.js';
import { subsetsOf } from './endpoint-subsets.js';
import { planEndpoints } from './endpoints-plan.js';

const http = { name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' as const };
const named = (name: string, containerPort: number) => ({
  spec: { containers: [{ name: 'c', image: 'i', ports: [{ name, containerPort }] }] },
});
const ips = (addresses: { ip?: string }[] | undefined) => addresses?.map((one) => one.ip);

describe('subsetsOf', () => {
  it('separates ready from not ready addresses', () => {
    const [subset, ...rest] = subsetsOf(service({ ports: [http] }), [
      pod({ name: 'b', ip: '10.0.0.2', node: 'n' }),
      pod({ name: 'a', ip: '10.0.0.1' }),
      pod({ name: 'c', ip: '10.0.0.3', ready: false }),
      pod({ name: 'no-ip' }),
      pod({ name: 'going', ip: '10.0.0.4', deleting: true }),
    ]);
    expect(rest).toEqual([]);
    expect(ips(subset?.addresses)).toEqual(['10.0.0.1', '10.0.0.2']);
    expect(ips(subset?.notReadyAddresses)).toEqual(['10.0.0.3']);
    expect(subset?.ports).toEqual([{ name: 'http', port: 8080, protocol: 'TCP' }]);
    expect(subset?.addresses?.[1]).toMatchObject({
      nodeName: 'n',
      targetRef: { kind: 'Pod', namespace: 'default', name: 'b' },
    });
  });

  it('publishes not ready addresses if the service requests it', () => {
    const own = service({ ports: [http], publishNotReadyAddresses: true });
    const pods = [pod({ ip: '10.0.0.1', ready: false }), pod({ ip: '10.0.0.2', deleting: true })];
    expect(ips(subsetsOf(own, pods)[0]?.addresses)).toEqual(['10.0.0.1', '10.0.0.2']);
    const key = 'service.alpha.orch.io/tolerate-unready-endpoints';
    own.metadata!.annotations = { [key]: 'false' };
    expect(subsetsOf(own, pods)[0]?.addresses).toBeUndefined();
  });

  it('finds ports by name, each pod its own number', () => {
    const own = service({ ports: [{ name: 'web', port: 80, targetPort: 'web' }] });
    const subsets = subsetsOf(own, [
      pod({ ip: '10.0.0.1', ...named('web', 8080) }),
      pod({ ip: '10.0.0.2', ...named('web', 9090) }),
      pod({ ip: '10.0.0.3', ...named('other', 1) }),
    ]);
    expect(subsets.map((one) => [ips(one.addresses), one.ports?.[0]?.port])).toEqual([
      [['10.0.0.1'], 8080],
      [['10.0.0.2'], 9090],
    ]);
  });

  it('puts all ports of an address into one subset', () => {
    const own = service({ ports: [http, { name: 'metrics', port: 9000 }] });
    const subsets = subsetsOf(own, [pod({ ip: '10.0.0.1' }), pod({ ip: '10.0.0.2' })]);
    expect(subsets).toHaveLength(1);
    expect(subsets[0]?.ports?.map((port) => port.port)).toEqual([8080, 9000]);
    expect(subsets[0]?.addresses).toHaveLength(2);
  });

  it('lists addresses without ports for a headless service', () => {
    const headless = service({ clusterIP: 'None' });
    const own = pod({ ip: '10.0.0.1', spec: { hostname: 'h', subdomain: 'web' } });
    const [subset] = subsetsOf(headless, [own]);
    expect(subset?.addresses?.[0]).toMatchObject({ ip: '10.0.0.1', hostname: 'h' });
    expect(subset?.ports).toBeUndefined();
    expect(subsetsOf(service({ clusterIP: '10.96.0.1' }), [own])).toEqual([]);
  });

  it.each([
    ['Never', 'Failed', 0],
    ['Never', 'Pending', 1],
    ['OnFailure', 'Succeeded', 0],
    ['OnFailure', 'Failed', 1],
    ['Always', 'Failed', 1],
  ] as const)('keeps a pod that restarts %s and is %s: %i', (restartPolicy, phase, count) => {
    const own = pod({ ip: '10.0.0.1', phase, ready: false, spec: { restartPolicy } });
    const [subset] = subsetsOf(service({ ports: [http] }), [own]);
    expect(subset?.notReadyAddresses ?? []).toHaveLength(count);
  });
});

describe('planEndpoints', () => {
  it('makes them, empty ones too, and leaves them alone when they are right', () => {
    const own = service({ ports: [http], clusterIP: 'None' });
    own.metadata!.labels = { team: 'a' };
    const made = planEndpoints(own, [], undefined, undefined);
    expect(made).toMatchObject({
      metadata: { name: 'web', labels: { team: 'a', 'service.orch.io/headless': '' } },
      subsets: [],
    });
    expect(planEndpoints(own, [], made, undefined)).toBeUndefined();
    const behind = pod({ ip: '10.0.0.1' });
    const filled = planEndpoints(own, [behind], made, undefined)!;
    const touched = { ...behind, metadata: { ...behind.metadata, resourceVersion: '99' } };
    expect(planEndpoints(own, [touched], filled, undefined)).toBeUndefined();
    expect(planEndpoints(own, [pod({ ip: '10.0.0.2' })], filled, undefined)).toBeDefined();
  });

  it('truncates above 1,000 addresses and says so, until there are fewer', () => {
    const own = service({ ports: [http], clusterIP: '10.96.0.1' });
    const pods = Array.from({ length: 1_001 }, (_, id) =>
      pod({ name: `p${id}`, ip: `10.0.${id >> 8}.${id & 255}`, ready: id > 0 }),
    );
    const truncated = planEndpoints(own, pods, undefined, epochMs)!;
    expect(truncated.subsets?.[0]?.addresses).toHaveLength(1_000);
    expect(truncated.subsets?.[0]?.notReadyAddresses).toBeUndefined();
    expect(truncated.metadata?.annotations).toEqual({
      'endpoints.orch.io/over-capacity': 'truncated',
      'endpoints.orch.io/last-change-trigger-time': at(0),
    });
    expect(planEndpoints(own, pods, truncated, undefined)).toBeUndefined();
    const complete = planEndpoints(own, pods.slice(1), truncated, undefined);
    expect(complete?.metadata?.annotations).toEqual({});
  });
});
