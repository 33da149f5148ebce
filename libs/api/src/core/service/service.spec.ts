import { StatusError } from '@orch/apimachinery';
import type { Service, ServiceSpec } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import type { Claim } from '../../definition.js';
import { allocationContext, cells, create, requestContext, update } from '../../testing/write.js';
import { addressAt, addressCount } from './address-range.js';
import { service } from './service.js';

const port = { port: 80 };
const errorsOf = (spec: object) => create<Service>(service, { spec }).errors;

function allocated(
  spec: object,
  context = allocationContext(),
): { spec: ServiceSpec; claims: readonly Claim[] } {
  const { object, errors } = create<Service>(service, { spec });
  expect(errors).toEqual([]);
  const claims = service.allocate!(object, undefined, context);
  return { spec: object.spec!, claims };
}

function refusal(spec: object, context = allocationContext()): string {
  const { object } = create<Service>(service, { spec });
  try {
    service.allocate!(object, undefined, context);
  } catch (error) {
    if (error instanceof StatusError) return error.message;
  }
  throw new Error('nothing was refused');
}

describe('load balancers', () => {
  const mixed = [
    { name: 'a', port: 53 },
    { name: 'b', port: 53, protocol: 'UDP' },
  ];
  it('reject several protocols', () => {
    expect(errorsOf({ type: 'LoadBalancer', ports: mixed })[0]).toMatch(
      /^spec\.ports: Invalid value: .*: may not contain more than 1 protocol when type is 'LoadBalancer'$/,
    );
    expect(errorsOf({ ports: mixed })).toEqual([]);
  });
  it('keep several stored protocols', () => {
    const old = create<Service>(service, { spec: { type: 'LoadBalancer', ports: mixed } }).object;
    const { errors } = update(service, old, (changed: Service) => {
      changed.metadata!.labels = { a: 'b' };
    });
    expect(errors).toEqual([]);
  });
});

describe('services at creation', () => {
  it('get a cluster IP and the defaults of their type', () => {
    const { spec, claims } = allocated({ ports: [port] });
    expect(spec).toEqual({
      ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
      clusterIP: '10.96.0.1',
      clusterIPs: ['10.96.0.1'],
      type: 'ClusterIP',
      sessionAffinity: 'None',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
    });
    expect(claims).toEqual([{ key: 'clusterip/10.96.0.1', holder: 'services/ns/x' }]);
  });
  it('get node ports', () => {
    const { spec, claims } = allocated(
      { type: 'LoadBalancer', externalTrafficPolicy: 'Local', ports: [port] },
      allocationContext(['clusterip/10.96.0.1', 'nodeport/30000']),
    );
    expect(spec.clusterIP).toBe('10.96.0.2');
    expect(spec.ports?.[0]?.nodePort).toBe(30_001);
    expect(spec.healthCheckNodePort).toBe(30_002);
    expect(claims.map(({ key }) => key)).toEqual([
      'clusterip/10.96.0.2',
      'nodeport/30001',
      'nodeport/30002',
    ]);
  });
  it('get no cluster IP when headless or ExternalName', () => {
    expect(allocated({ clusterIP: 'None' })).toMatchObject({
      spec: { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' },
      claims: [],
    });
    expect(allocated({ clusterIP: 'None', selector: { a: 'b' } }).spec).toMatchObject({
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
    });
    expect(allocated({ type: 'ExternalName', externalName: 'x.example.com' }).claims).toEqual([]);
  });
  it('get one address per family on a dual-stack cluster', () => {
    const ranges = ['10.96.0.0/16', 'fd00:1::/112'];
    const { spec } = allocated(
      { ports: [port], ipFamilyPolicy: 'PreferDualStack' },
      allocationContext([], ranges),
    );
    expect(spec.clusterIPs).toEqual(['10.96.0.1', 'fd00:1::1']);
    expect(spec.ipFamilies).toEqual(['IPv4', 'IPv6']);
  });
  it('claim no address in a dry run', () => {
    const context = { ...allocationContext(['nodeport/30000']), dryRun: true };
    const { spec } = allocated({ type: 'NodePort', ports: [port] }, context);
    expect(spec.clusterIP).toBeUndefined();
    expect(spec.ports?.[0]?.nodePort).toBe(30_000);
  });
  it('reject an address or port that cannot be allocated', () => {
    expect(
      refusal(
        { clusterIP: '10.96.0.1', ports: [port] },
        allocationContext(['clusterip/10.96.0.1']),
      ),
    ).toBe(
      'Service "x" is invalid: spec.clusterIPs: Invalid value: []string{"10.96.0.1"}: failed to allocated ip:10.96.0.1 with error:provided IP is already allocated',
    );
    expect(refusal({ clusterIP: '192.0.2.1', ports: [port] })).toMatch(
      /provided IP is not in the valid range\. The range of valid IPs is 10\.96\.0\.0\/16$/,
    );
    expect(refusal({ type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] })).toBe(
      'Service "x" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767',
    );
    expect(refusal({ ports: [port], ipFamilyPolicy: 'RequireDualStack' })).toBe(
      'Service "x" is invalid: spec.ipFamilyPolicy: Invalid value: "RequireDualStack": Cluster is not configured for dual stack services',
    );
  });
});

describe('rules of services', () => {
  it('reject traffic fields that the type does not have, after the allocation', () => {
    const spec = { ports: [port], externalTrafficPolicy: 'Local', healthCheckNodePort: 1 };
    const { object, errors } = create<Service>(service, { spec });
    expect(errors).toEqual([]);
    expect(() => service.allocate?.(object, undefined, allocationContext())).toThrow(
      /ExternalTrafficPolicy can only be set on NodePort .* HealthCheckNodePort can only be set/,
    );
  });

  it.each<[object, string[]]>([
    [{}, ['spec.ports: Required value']],
    [
      { ports: [{ port: 1 }, { port: 2 }] },
      ['spec.ports[0].name: Required value', 'spec.ports[1].name: Required value'],
    ],
    [
      { type: 'NodePort', clusterIP: 'None', ports: [port] },
      [
        'spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for NodePort services',
      ],
    ],
    [
      { clusterIP: '10.96.250.1', clusterIPs: ['10.96.250.2'], ports: [port] },
      ['spec.clusterIPs: Invalid value: []string{"10.96.250.2"}: element [0] must match clusterIP'],
    ],
    [
      { ports: [port], externalIPs: ['x', '0.0.0.0', '127.0.0.1'] },
      [
        'spec.externalIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
        'spec.externalIPs[1]: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)',
        'spec.externalIPs[2]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8)',
      ],
    ],
    [
      { type: 'LoadBalancer', ports: [port], loadBalancerSourceRanges: ['x'] },
      [
        'spec.LoadBalancerSourceRanges: Invalid value: "[x]": must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 ',
      ],
    ],
    [{ type: 'ExternalName' }, ['spec.externalName: Required value']],
  ])('%j', (spec, messages) => {
    expect(errorsOf(spec)).toEqual(messages);
  });
});

describe('services with a changed type', () => {
  const stored = (spec: object) => {
    const { object } = create<Service>(service, { spec });
    service.allocate!(object, undefined, allocationContext());
    return object;
  };
  it('release allocations that the new type does not have', () => {
    const old = stored({ type: 'NodePort', ports: [port] });
    const { object, errors } = update(service, old, (changed: Service) => {
      changed.spec!.type = 'ClusterIP';
    });
    expect(errors).toEqual([]);
    expect(object.spec?.ports?.[0]?.nodePort).toBeUndefined();
    expect(object.spec?.externalTrafficPolicy).toBeUndefined();
    expect(service.allocate!(object, old, allocationContext()).map(({ key }) => key)).toEqual([
      'clusterip/10.96.0.1',
    ]);
  });
  it('keep their address when the new type has one', () => {
    const old = stored({ ports: [port] });
    const { object } = update(service, old, (changed: Service) => {
      changed.spec!.type = 'NodePort';
    });
    const context = allocationContext(['clusterip/10.96.0.1']);
    expect(service.allocate!(object, old, context).map(({ key }) => key)).toEqual([
      'clusterip/10.96.0.1',
      'nodeport/30000',
    ]);
  });
  it('lose the address when changed to ExternalName', () => {
    const old = stored({ ports: [port] });
    const { object, errors } = update(service, old, (changed: Service) => {
      Object.assign(changed.spec!, { type: 'ExternalName', externalName: 'a.example.com' });
    });
    expect(errors).toEqual([]);
    expect(object.spec).not.toHaveProperty('clusterIPs');
    expect(service.allocate!(object, old, allocationContext())).toEqual([]);
  });
  it('reject a removed address otherwise', () => {
    const old = stored({ ports: [port] });
    const { errors } = update(service, old, (changed: Service) => {
      changed.spec = { ports: changed.spec!.ports, type: 'ClusterIP', sessionAffinity: 'None' };
    });
    expect(errors).toEqual([
      'spec.clusterIPs[0]: Invalid value: []string{}: primary clusterIP can not be unset',
      'spec.ipFamilies[0]: Invalid value: []string{}: primary ipFamily can not be unset',
    ]);
  });
});

describe('a write of the status of a service', () => {
  it('leaves the stored spec as it was when it claims the addresses again', () => {
    const { object: old } = create<Service>(service, { spec: { ports: [port] } });
    service.allocate!(old, undefined, allocationContext());
    const stored = structuredClone(old);
    const status: Service = { metadata: old.metadata!, status: {} };
    service.status!.prepareForUpdate!(status, old, requestContext());
    for (const member of Object.values(old.spec!)) Object.freeze(member);
    Object.freeze(old.spec);
    service.allocate!(status, old, allocationContext());
    expect(status.spec).toEqual(stored.spec);
    expect(old).toEqual(stored);
  });
});

describe('rows of services', () => {
  it('show addresses and ports', () => {
    const spec = {
      type: 'LoadBalancer',
      clusterIPs: ['10.96.0.9'],
      ports: [{ port: 80, nodePort: 30_001, protocol: 'TCP' }],
      selector: { c: 'd', a: 'b' },
    };
    const status = {
      loadBalancer: { ingress: [{ ip: '192.0.2.3' }, { hostname: 'lb.example.com' }] },
    };
    expect(cells(service, { metadata: { name: 's' }, spec, status } as Service)).toMatchObject({
      'Cluster-IP': '10.96.0.9',
      'External-IP': '192.0.2.3,lb.example.com',
      'Port(s)': '80:30001/TCP',
      Selector: 'a=b,c=d',
    });
  });
});

describe('address ranges', () => {
  it('exclude the first and the last address', () => {
    expect(addressCount('10.0.0.0/30')).toBe(2);
    expect(addressAt('10.0.0.0/30', 2)).toBe('10.0.0.2');
    expect(addressAt('10.0.255.0/23', 256)).toBe('10.1.0.0');
    expect(addressAt('fd00:1::/112', 65_535)).toBe('fd00:1::ffff');
  });
});
