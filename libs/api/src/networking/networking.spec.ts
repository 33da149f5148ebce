import type { Ingress, IngressClass, NetworkPolicy } from '@orch/types/networking/v1';
import { describe, expect, it } from 'vitest';
import { cells, create, update } from '../testing/write.js';
import { ingress } from './ingress.js';
import { ingressClass } from './ingress-class.js';
import { networkPolicy } from './network-policy.js';

const [, beta, extensions] = ingress.versions;

describe('network policies', () => {
  const errorsOf = (spec: object) =>
    create<NetworkPolicy>(networkPolicy, { spec: { podSelector: {}, ...spec } }).errors;
  const from = (...peers: object[]) => ({ ingress: [{ from: peers }] });

  it('default to egress if they have egress rules', () => {
    const typesOf = (spec: object) =>
      create<NetworkPolicy>(networkPolicy, { spec }).object.spec?.policyTypes;
    expect(typesOf({})).toEqual(['Ingress']);
    expect(typesOf({ egress: [{}] })).toEqual(['Ingress', 'Egress']);
    expect(typesOf({ egress: [{}], policyTypes: ['Egress'] })).toEqual(['Egress']);
  });
  it('drop port ranges', () => {
    const { object } = create<NetworkPolicy>(networkPolicy, {
      spec: { egress: [{ ports: [{ port: 1, endPort: 9 }] }] },
    });
    expect(object.spec?.egress?.[0]?.ports).toEqual([{ protocol: 'TCP', port: 1 }]);
  });
  it.each<[object, string[]]>([
    [from({}), ['spec.ingress[0].from[0]: Required value: must specify a peer']],
    [
      from({ podSelector: {}, ipBlock: { cidr: '192.0.2.0/24' } }),
      ['spec.ingress[0].from[0]: Forbidden: may not specify both ipBlock and another peer'],
    ],
    [from({ ipBlock: {} }), ['spec.ingress[0].from[0].ipBlock.cidr: Required value']],
    [
      from({ ipBlock: { cidr: 'x' } }),
      ['spec.ingress[0].from[0].ipBlock.cidr: Invalid value: "x": not a valid CIDR'],
    ],
    [
      { egress: [{ to: [{ ipBlock: { cidr: '192.0.2.0/24', except: ['192.0.2.0/24', 'x'] } }] }] },
      [
        'spec.egress[0].to[0].ipBlock.except[0]: Invalid value: "192.0.2.0/24": must be a strict subset of `cidr`',
        'spec.egress[0].to[0].ipBlock.except[1]: Invalid value: "x": not a valid CIDR',
      ],
    ],
    [from({ ipBlock: { cidr: '2001:db8::/32', except: ['2001:db8:1::/48'] } }), []],
    [
      { ingress: [{ ports: [{ port: 0 }, { port: '-', protocol: 'X' }] }] },
      [
        'spec.ingress[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
        'spec.ingress[0].ports[1].protocol: Unsupported value: "X": supported values: "TCP", "UDP", "SCTP"',
        'spec.ingress[0].ports[1].port: Invalid value: "-": must contain at least one letter or number (a-z, 0-9)',
        'spec.ingress[0].ports[1].port: Invalid value: "-": must not begin or end with a hyphen',
      ],
    ],
    [
      { policyTypes: ['Sideways'] },
      ['spec.policyTypes[0]: Unsupported value: "Sideways": supported values: "Ingress", "Egress"'],
    ],
    [
      { policyTypes: ['Ingress', 'Egress', 'Ingress'] },
      [
        'spec.policyTypes: Invalid value: []string{"Ingress", "Egress", "Ingress"}: may not specify more than two policyTypes',
      ],
    ],
  ])('%j', (spec, messages) => {
    expect(errorsOf(spec)).toEqual(messages);
  });
  it('show their selector', () => {
    const row = (podSelector: object) => cells(networkPolicy, { spec: { podSelector } } as object);
    expect(row({ matchLabels: { a: 'b' } })['Pod-Selector']).toBe('a=b');
    expect(row({})['Pod-Selector']).toBe('<none>');
  });
});

const service = { service: { name: 's', port: { number: 80 } } };
const rule = (path: object) => ({ rules: [{ http: { paths: [path] } }] });
const good = rule({ path: '/', pathType: 'Prefix', backend: service });

describe('ingresses', () => {
  const errorsOf = (spec: object, metadata = {}) =>
    create<Ingress>(ingress, { metadata: { name: 'x', ...metadata }, spec }).errors;
  const at = 'spec.rules[0].http.paths[0]';
  it.each<[object, string[]]>([
    [
      {},
      [
        'spec: Invalid value: []networking.IngressRule(nil): either `defaultBackend` or `rules` must be specified',
      ],
    ],
    [{ rules: [{ http: {} }] }, ['spec.rules[0].http.paths: Required value']],
    [rule({}), [`${at}.pathType: Required value: pathType must be specified`]],
    [
      rule({ pathType: 'Exact', path: '/a//b%2F/..', backend: service }),
      [
        `${at}.path: Invalid value: "/a//b%2F/..": must not contain '//'`,
        `${at}.path: Invalid value: "/a//b%2F/..": must not contain '%2F'`,
        `${at}.path: Invalid value: "/a//b%2F/..": cannot end with '/..'`,
      ],
    ],
    [
      rule({ pathType: 'ImplementationSpecific', path: 'a', backend: service }),
      [`${at}.path: Invalid value: "a": must be an absolute path`],
    ],
    [
      rule({ pathType: 'Regex', backend: service }),
      [
        `${at}.pathType: Unsupported value: "Regex": supported values: "Exact", "ImplementationSpecific", "Prefix"`,
      ],
    ],
    [
      { ...good, defaultBackend: {} },
      ['spec.defaultBackend: Invalid value: "": resource or service backend is required'],
    ],
    [
      { defaultBackend: { ...service, resource: { kind: 'K', name: 'n' } } },
      ['spec.defaultBackend: Invalid value: "": cannot set both resource and service backends'],
    ],
    [
      { defaultBackend: { resource: { kind: 'a/b' } } },
      [
        'spec.defaultBackend.resource.kind: Invalid value: "a/b": may not contain \'/\'',
        'spec.defaultBackend.resource.name: Required value: name is required',
      ],
    ],
    [
      { defaultBackend: { service: { port: { name: 'a', number: 1 } } } },
      [
        'spec.defaultBackend.service.name: Required value',
        'spec.defaultBackend: Invalid value: "": cannot set both port name & port number',
      ],
    ],
    [
      { defaultBackend: { service: { name: 's', port: {} } } },
      ['spec.defaultBackend: Required value: port name or number is required'],
    ],
    [
      { defaultBackend: { service: { name: 's', port: { number: 70_000 } } } },
      [
        'spec.defaultBackend.service.port.number: Invalid value: 70000: must be between 1 and 65535, inclusive',
      ],
    ],
    [
      { rules: [{ host: '192.0.2.1' }] },
      ['spec.rules[0].host: Invalid value: "192.0.2.1": must be a DNS name, not an IP address'],
    ],
    [
      { rules: [{ host: '*.*.example.com' }] },
      [
        expect.stringMatching(
          /^spec\.rules\[0\]\.host: Invalid value: .*a wildcard DNS-1123/,
        ) as string,
      ],
    ],
    [
      { ...good, tls: [{ hosts: ['a_b'], secretName: 'A' }] },
      [
        expect.stringMatching(/^spec\.tls\[0\]\.hosts\[0\]: Invalid value: "a_b"/) as string,
        expect.stringMatching(/^spec\.tls\[0\]\.secretName: Invalid value: "A"/) as string,
      ],
    ],
  ])('reject %j', (spec, messages) => {
    expect(errorsOf(spec)).toEqual(messages);
  });
  it('reject the class annotation together with the field', () => {
    const annotations = { 'orch.io/ingress.class': 'a' };
    expect(errorsOf({ ...good, ingressClassName: 'a' }, { annotations })).toEqual([
      'annotations.orch.io/ingress.class: Invalid value: "a": can not be set when the class field is also set',
    ]);
    expect(errorsOf(good, { annotations })).toEqual([]);
  });
  it('show hosts and ports', () => {
    const hosts = ['a', 'b', 'c', 'd', 'e'].map((host) => ({ host }));
    const spec = { rules: hosts, tls: [{}], ingressClassName: 'k' };
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }, { hostname: 'h' }] } };
    expect(cells(ingress, { spec, status } as Ingress)).toMatchObject({
      Class: 'k',
      Hosts: 'a,b,c + 2 more...',
      Address: '192.0.2.1,h',
      Ports: '80, 443',
    });
    expect(cells(ingress, { spec: {} } as Ingress)).toMatchObject({ Hosts: '*', Ports: '80' });
  });
  it('count changes of the spec', () => {
    const { object } = create<Ingress>(ingress, {
      metadata: { name: 'x', generation: 1 },
      spec: good,
    });
    const generation = (change: (object: Ingress) => void) =>
      update<Ingress>(ingress, object, change).object.metadata?.generation;
    expect(generation((changed) => Object.assign(changed.spec!, { tls: [{}] }))).toBe(2);
    expect(generation((changed) => Object.assign(changed, { status: { x: 1 } }))).toBe(1);
  });
});

describe('ingresses in their beta versions', () => {
  const spec = {
    backend: { serviceName: 's', servicePort: 'http' },
    rules: [
      {
        host: 'a',
        http: { paths: [{ path: '/', backend: { serviceName: 't', servicePort: 80 } }] },
      },
      { http: { paths: [{ backend: { servicePort: 0, resource: { kind: 'K', name: 'n' } } }] } },
    ],
  };
  it.each([beta, extensions])('convert backends', (version) => {
    const { object, errors } = create<Ingress>(ingress, { spec }, version);
    expect(errors).toEqual([]);
    expect(object.spec).toMatchObject({
      defaultBackend: { service: { name: 's', port: { name: 'http' } } },
      rules: [
        {
          host: 'a',
          http: { paths: [{ backend: { service: { name: 't', port: { number: 80 } } } }] },
        },
        { http: { paths: [{ backend: { resource: { kind: 'K', name: 'n' } } }] } },
      ],
    });
    expect(version?.fromStored?.(object)).toMatchObject({ spec });
  });
  it('have their own field names in errors and fewer rules', () => {
    const errorsOf = (spec: object) => create<Ingress>(ingress, { spec }, beta).errors;
    expect(errorsOf({})).toEqual([
      expect.stringContaining('either `backend` or `rules` must be specified'),
    ]);
    expect(errorsOf({ backend: { serviceName: 'A', servicePort: 70_000 } })).toEqual([
      expect.stringMatching(/^spec\.backend\.serviceName: Invalid value: "A"/),
      'spec.backend.servicePort: Invalid value: 70000: must be between 1 and 65535, inclusive',
    ]);
    const odd = { rules: [{ host: '*.a', http: { paths: [] } }], tls: [{ secretName: 'A' }] };
    const { object, errors } = create<Ingress>(ingress, { spec: odd }, beta);
    expect(errors).toEqual([]);
    // Stored violations stay allowed.
    const change = (changed: Ingress) => Object.assign(changed.metadata!, { labels: { a: 'b' } });
    expect(update<Ingress>(ingress, object, change).errors).toEqual([]);
  });
});

describe('ingress classes', () => {
  it.each<[object, string[]]>([
    [{}, ['spec.controller: Required value']],
    [
      { controller: 'x' },
      [
        'spec.controller: Invalid value: "x": must be a domain-prefixed path (such as "acme.io/foo")',
      ],
    ],
    [
      { controller: 'a.b/c d' },
      [expect.stringMatching(/^spec\.controller: Invalid value: "c d": Invalid path \(/) as string],
    ],
    [
      { controller: `a.b/${'x'.repeat(250)}` },
      ['spec.controller: Too long: must have at most 250 bytes'],
    ],
    [
      { controller: 'a.b/c', parameters: { apiGroup: 'A', name: 'n' } },
      [
        expect.stringMatching(/^spec\.parameters\.apiGroup: Invalid value: "A"/) as string,
        'spec.parameters.kind: Required value: kind is required',
      ],
    ],
  ])('reject %j', (spec, messages) => {
    expect(create(ingressClass, { spec }).errors).toEqual(messages);
  });
  it('reject a change of the controller and drop namespaced parameters', () => {
    const { object } = create<IngressClass>(ingressClass, {
      spec: {
        controller: 'a.b/c',
        parameters: { apiGroup: 'g', kind: 'K', name: 'n', scope: 'Namespace', namespace: 's' },
      },
    });
    expect(object.spec?.parameters).toEqual({ apiGroup: 'g', kind: 'K', name: 'n' });
    expect(cells(ingressClass, object)).toMatchObject({ Controller: 'a.b/c', Parameters: 'K.g/n' });
    const { errors } = update<IngressClass>(ingressClass, object, (changed) => {
      changed.spec!.controller = 'a.b/d';
    });
    expect(errors).toEqual(['spec.controller: Invalid value: "a.b/d": field is immutable']);
  });
});
