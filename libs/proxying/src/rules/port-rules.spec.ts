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
  it('joins ports by name and protocol with ready addresses', () => {
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
        clusterIp: '10.9.0.1',
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
        clusterIp: '10.9.0.1',
        port: 53,
        endpoints: [
          { ip: '10.0.0.1', port: 53 },
          { ip: '10.0.0.2', port: 53 },
        ],
      },
    ]);
  });

  it('keeps clients together where the service asks for it', () => {
    const sticky = { clusterIP: '10.9.0.1', ports: [{ port: 80 }], sessionAffinity: 'ClientIP' };
    expect(portRules(service(sticky), undefined, none)[0]?.affinityTimeoutMs).toBe(10_800_000);
    const short = { ...sticky, sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } };
    expect(portRules(service(short), undefined, none)[0]?.affinityTimeoutMs).toBe(5_000);
  });

  it('has nothing to do for services without an address', () => {
    for (const spec of [
      { clusterIP: 'None', ports: [{ port: 80 }] },
      { type: 'ExternalName', externalName: 'example.org', ports: [{ port: 80 }] },
      { clusterIP: '', ports: [{ port: 80 }] },
    ]) {
      expect(portRules(service(spec), endpoints, none)).toEqual([]);
    }
    expect(portRules(undefined, endpoints, none)).toEqual([]);
  });

  it('reaches pods of loopback nodes where they listen', () => {
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
});
