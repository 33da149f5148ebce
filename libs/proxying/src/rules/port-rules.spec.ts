import type { Endpoints, Service } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import { portRules } from './port-rules.js';

const service = (spec: Service['spec']): Service => ({ metadata: { name: 'web' }, spec });
const none = () => false;
const endpoints: Endpoints = {
  subsets: [
    {
      addresses: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }],
      notReadyAddresses: [{ ip: '10.0.0.3' }],
      ports: [
        { name: 'http', port: 8080 },
        { name: 'dns', port: 53, protocol: 'UDP' },
      ],
    },
    { addresses: [{ ip: '10.0.0.4' }], ports: [{ name: 'http', port: 8081 }] },
  ],
};

describe('portRules', () => {
  it('matches ports by name and protocol, with ready addresses', () => {
    const rules = portRules(
      service({
        clusterIP: '10.9.0.1',
        ports: [
          { name: 'http', port: 80, nodePort: 30080 },
          { name: 'dns', port: 53, protocol: 'UDP' },
          { name: 'other', port: 99, protocol: 'SCTP' },
        ],
      }),
      endpoints,
      none,
    );
    expect(rules).toEqual([
      {
        portName: 'http',
        protocol: 'TCP',
        address: '10.9.0.1',
        port: 80,
        nodePort: 30080,
        endpoints: [
          { ip: '10.0.0.1', port: 8080 },
          { ip: '10.0.0.2', port: 8080 },
          { ip: '10.0.0.4', port: 8081 },
        ],
      },
      {
        portName: 'dns',
        protocol: 'UDP',
        address: '10.9.0.1',
        port: 53,
        endpoints: [
          { ip: '10.0.0.1', port: 53 },
          { ip: '10.0.0.2', port: 53 },
        ],
      },
    ]);
  });

  it('includes the session affinity of the service', () => {
    const sticky = { clusterIP: '10.9.0.1', ports: [{ port: 80 }], sessionAffinity: 'ClientIP' };
    expect(portRules(service(sticky), undefined, none)[0]?.affinityTimeoutMs).toBe(10_800_000);
    const short = { ...sticky, sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } };
    expect(portRules(service(short), undefined, none)[0]?.affinityTimeoutMs).toBe(5_000);
  });

  it('returns no rules for services without an address', () => {
    for (const spec of [
      { clusterIP: 'None', ports: [{ port: 80 }] },
      { type: 'ExternalName', externalName: 'example.org', ports: [{ port: 80 }] },
      { clusterIP: '', ports: [{ port: 80 }] },
    ]) {
      expect(portRules(service(spec), endpoints, none)).toEqual([]);
    }
    expect(portRules(undefined, endpoints, none)).toEqual([]);
  });

  it('maps pods of loopback nodes to their loopback address', () => {
    const mixed: Endpoints = {
      subsets: [
        {
          addresses: [
            { ip: '10.0.0.1', nodeName: 'plain' },
            { ip: '10.0.0.2', nodeName: 'other' },
          ],
          ports: [{ port: 8080 }],
        },
      ],
    };
    const spec = { clusterIP: '127.9.0.1', ports: [{ port: 80 }] };
    const [rule] = portRules(service(spec), mixed, (nodeName) => nodeName === 'plain');
    expect(rule?.endpoints.map(({ ip }) => ip)).toEqual(['127.0.0.1', '10.0.0.2']);
  });

  it('has a rule for each IPv4 address of a load balancer, with the permitted clients', () => {
    const balanced: Service = {
      ...service({
        type: 'LoadBalancer',
        clusterIP: '10.9.0.1',
        ports: [{ name: 'http', port: 80, nodePort: 30080 }],
        loadBalancerSourceRanges: ['192.0.2.0/24'],
      }),
      status: {
        loadBalancer: { ingress: [{ ip: '192.0.2.1' }, { ip: 'fd00::1' }, { hostname: 'x' }] },
      },
    };
    const rules = (one: Service) => portRules(one, endpoints, none);
    expect(rules(balanced)).toMatchObject([
      { address: '10.9.0.1', nodePort: 30080 },
      { address: '192.0.2.1', port: 80, sourceRanges: ['192.0.2.0/24'] },
    ]);
    expect(rules(balanced)[0]).not.toHaveProperty('sourceRanges');
    expect(rules(balanced)[1]).not.toHaveProperty('nodePort');
    expect(rules({ ...balanced, spec: { ...balanced.spec, type: 'ClusterIP' } })).toHaveLength(1);
    const annotations = { 'service.beta.orch.io/load-balancer-source-ranges': '10.0.0.0/8, ::/0' };
    const { loadBalancerSourceRanges, ...spec } = balanced.spec!;
    expect(rules({ ...balanced, metadata: { annotations }, spec })[1]).toMatchObject({
      sourceRanges: ['10.0.0.0/8', '::/0'],
    });
  });
});
