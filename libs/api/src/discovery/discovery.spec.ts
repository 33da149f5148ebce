import type { EndpointSlice } from '@orch/types/discovery/v1';
import type { EndpointSlice as StoredSlice } from '@orch/types/discovery/v1beta1';
import { describe, expect, it } from 'vitest';
import { cells, create, decode, requestContext, update } from '../testing/write.js';
import { endpointSlice } from './endpoint-slice.js';

const [v1, beta] = endpointSlice.versions;
const addresses = ['192.0.2.1'];
const zone = 'topology.orch.io/zone';
const host = 'orch.io/hostname';
const written = (endpoint: object, version = v1, addressType = 'IPv4') =>
  create<StoredSlice>(
    endpointSlice,
    { addressType, endpoints: [{ addresses, ...endpoint }] },
    version,
  );
const converted = (object: StoredSlice) => v1?.fromStored?.(object) as EndpointSlice;

describe('endpoint slices', () => {
  it('convert zone and node to the topology of the older version', () => {
    const { object, errors } = written({ nodeName: 'n', zone: 'z' });
    expect(errors).toEqual([]);
    expect(object.endpoints?.[0]?.topology).toEqual({ [zone]: 'z', [host]: 'n' });
    expect(converted(object).endpoints?.[0]).toMatchObject({ nodeName: 'n', zone: 'z' });
    expect(converted(object).endpoints?.[0]).not.toHaveProperty('deprecatedTopology');
  });
  it('add zone and node to the topology of the older version', () => {
    const { object } = written({ nodeName: 'n', topology: { [zone]: 'z', rack: 'r' } }, beta);
    expect(object.endpoints?.[0]?.topology).toEqual({ [zone]: 'z', rack: 'r', [host]: 'n' });
    expect(converted(object).endpoints?.[0]?.deprecatedTopology).toEqual({ rack: 'r' });
    expect(v1?.toStored?.(converted(object))).toEqual(object);
  });
  it('keep a host name that differs from the node', () => {
    const { object } = written({ nodeName: 'n', topology: { [host]: 'h' } }, beta);
    expect(converted(object).endpoints?.[0]?.deprecatedTopology).toEqual({ [host]: 'h' });
    expect(v1?.toStored?.(converted(object))).toEqual(object);
  });
  it('reject custom topology in the newer version, but keep unchanged entries', () => {
    expect(written({ deprecatedTopology: { rack: 'r' } }).object.endpoints?.[0]).not.toHaveProperty(
      'topology',
    );
    const old = written({ topology: { rack: 'r' } }, beta).object;
    const changed = (change: (slice: EndpointSlice) => void) => {
      const view = structuredClone(converted(old));
      change(view);
      const object = v1!.toStored!(view) as StoredSlice;
      endpointSlice.prepareForUpdate?.(object, old, requestContext(v1));
      return object.endpoints?.[0]?.topology;
    };
    expect(changed((slice) => Object.assign(slice.metadata!, { labels: {} }))).toEqual({
      rack: 'r',
    });
    expect(changed((slice) => slice.endpoints![0]!.addresses!.push('192.0.2.2'))).toBeUndefined();
  });
  it('drop disabled fields and empty lists', () => {
    const { object } = written({ conditions: { ready: true, serving: true }, hints: {} });
    expect(object.endpoints).toEqual([{ addresses, conditions: { ready: true } }]);
    expect(create(endpointSlice, { addressType: 'IPv4', endpoints: [] }).object).not.toHaveProperty(
      'endpoints',
    );
  });
  it.each<[string, object, string[]]>([
    ['IPv4', { addresses: [] }, ['addresses: Required value: must contain at least 1 address']],
    [
      'IPv4',
      { addresses: Array(101).fill('192.0.2.1') },
      ['addresses: Too many: 101: must have at most 100 items'],
    ],
    [
      'IPv6',
      { addresses: ['192.0.2.1', '::1'] },
      [
        'addresses[0]: Invalid value: "192.0.2.1": must be a valid IPv6 address',
        'addresses[1]: Invalid value: "::1": may not be in the loopback range (127.0.0.0/8)',
      ],
    ],
    [
      'FQDN',
      { addresses: ['a.b.', '', 'a'] },
      [
        'addresses[1]: Required value',
        'addresses[2]: Invalid value: "a": should be a domain with at least two segments separated by dots',
      ],
    ],
    [
      'IPv4',
      { nodeName: 'A', hostname: 'a.b' },
      [
        expect.stringMatching(/^nodeName: Invalid value: "A"/) as string,
        expect.stringMatching(/^hostname: Invalid value: "a\.b"/) as string,
      ],
    ],
  ])('%s reject %j', (type, endpoint, messages) => {
    const errors = written(endpoint, v1, type).errors;
    expect(errors.map((error) => error.replace('endpoints[0].', ''))).toEqual(messages);
  });
  it.each<[object, string[]]>([
    [{}, ['addressType: Required value']],
    [
      { addressType: 'IPX' },
      ['addressType: Unsupported value: "IPX": supported values: "FQDN", "IPv4", "IPv6"'],
    ],
    [
      {
        addressType: 'IPv4',
        ports: [{ name: 'a' }, { name: 'a', protocol: 'X', appProtocol: '' }],
      },
      [
        'ports[1].name: Duplicate value: "a"',
        'ports[1].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
        'ports[1].appProtocol: Invalid value: "": name part must be non-empty',
        expect.stringMatching(
          /^ports\[1\]\.appProtocol: Invalid value: "": name part must/,
        ) as string,
      ],
    ],
    [
      {
        addressType: 'IPv4',
        endpoints: [
          {
            addresses,
            topology: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, 'v'])),
          },
        ],
      },
      ['endpoints[0].deprecatedTopology: Too many: 17: must have at most 16 items'],
    ],
  ])('reject %j', (body, messages) => {
    expect(create(endpointSlice, body, beta).errors).toEqual(messages);
  });
  it('reject a change of family and count changes outside annotations', () => {
    const old = decode<StoredSlice>(endpointSlice, {
      addressType: 'IPv4',
      metadata: { name: 'x', generation: 1 },
    });
    const changed = (change: (slice: StoredSlice) => void) =>
      update(endpointSlice, old, change, beta);
    expect(changed((slice) => Object.assign(slice, { addressType: 'IPv6' })).errors).toEqual([
      'addressType: Invalid value: "IPv6": field is immutable',
    ]);
    const generation = (metadata: object) =>
      changed((slice) => Object.assign(slice.metadata!, metadata)).object.metadata?.generation;
    expect(generation({ labels: { a: 'b' } })).toBe(2);
    expect(generation({ annotations: { a: 'b' } })).toBe(1);
  });
  it('show the first of their endpoints and ports', () => {
    const { object } = create<StoredSlice>(endpointSlice, {
      addressType: 'IPv4',
      endpoints: [{ addresses: ['a', 'b', 'c'] }, { addresses: ['d'] }],
      ports: [{ port: 80 }, { name: 'x' }, {}],
    });
    expect(cells(endpointSlice, object)).toMatchObject({
      Ports: '80,x,*',
      Endpoints: 'a,b,c + 1 more...',
    });
    expect(cells(endpointSlice, {})).toMatchObject({ Ports: '<unset>', Endpoints: '<unset>' });
  });
});
