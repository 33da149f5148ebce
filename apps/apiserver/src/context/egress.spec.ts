import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dialect, Metrics } from '@orch/component';
import { afterAll, describe, expect, it } from 'vitest';
import { readEgress } from './egress.js';

const directory = mkdtempSync(join(tmpdir(), 'orch-egress-'));
const head = () =>
  `apiVersion: ${dialect().apiVersion('apiserver', 'v1beta1')}\nkind: EgressSelectorConfiguration\n`;

function read(text: string) {
  const file = join(directory, 'egress.yaml');
  writeFileSync(file, text);
  return readEgress(file, new Metrics());
}

const selections = (...texts: string[]) => `${head()}egressSelections: [${texts.join(', ')}]`;
const connect = (transport: string) => `{proxyProtocol: HTTPConnect, transport: ${transport}}`;
const cluster = (connection: string) => `{name: cluster, connection: ${connection}}`;
const direct = '{proxyProtocol: Direct}';
const socket = connect('{uds: {udsName: /run/proxy.sock}}');

describe('the egress selector configuration', () => {
  afterAll(() => rmSync(directory, { recursive: true }));

  it('is direct without a file, and where it says so', () => {
    expect(readEgress('', new Metrics())).toEqual({});
    expect(read(selections(cluster(direct), `{name: etcd, connection: ${direct}}`))).toEqual({});
  });

  it('selects a proxy for each kind of connection', () => {
    expect(Object.keys(read(selections(cluster(socket))))).toEqual(['cluster']);
    const url = connect('{tcp: {url: "http://127.0.0.1:8131"}}');
    for (const name of ['controlplane', 'master']) {
      const egress = read(selections(`{name: ${name}, connection: ${url}}`));
      expect(Object.keys(egress)).toEqual(['controlPlane']);
    }
  });

  it.each([
    ['another kind', 'kind: Policy', 'not a EgressSelectorConfiguration of'],
    [
      'an unknown name',
      selections(`{name: nodes, connection: ${direct}}`),
      '"nodes" is not one of',
    ],
    ['a repeated name', selections(cluster(direct), cluster(socket)), 'is selected twice'],
    ['no connection', selections('{name: cluster}'), 'egressSelections[0].connection is not a map'],
    [
      'an unsupported protocol',
      selections(cluster('{proxyProtocol: GRPC}')),
      '"GRPC" is not supported; use Direct or HTTPConnect',
    ],
    [
      'a transport of a direct connection',
      selections(cluster('{proxyProtocol: Direct, transport: {uds: {udsName: /a}}}')),
      'transport: must be absent for Direct',
    ],
    ['no transport', selections(cluster(connect('{}'))), 'one of tcp and uds is required'],
    [
      'two transports',
      selections(cluster(connect('{uds: {udsName: /a}, tcp: {url: "http://a"}}'))),
      'one of tcp and uds is required',
    ],
    [
      'a relative socket',
      selections(cluster(connect('{uds: {udsName: a.sock}}'))),
      'udsName: must be the absolute path of a socket',
    ],
    [
      'another scheme',
      selections(cluster(connect('{tcp: {url: "ftp://a"}}'))),
      'url: "ftp://a" is no http or https URL',
    ],
    [
      'https without certificates',
      selections(cluster(connect('{tcp: {url: "https://a"}}'))),
      'tlsConfig: is required for https',
    ],
    [
      'http with certificates',
      selections(cluster(connect('{tcp: {url: "http://a", tlsConfig: {caBundle: ca.crt}}}'))),
      'tlsConfig: must be absent for http',
    ],
    [
      'a certificate without its key',
      selections(cluster(connect('{tcp: {url: "https://a", tlsConfig: {clientCert: a.crt}}}'))),
      'clientCert and clientKey must be set together',
    ],
    [
      'a missing file',
      selections(cluster(connect('{tcp: {url: "https://a", tlsConfig: {caBundle: none.crt}}}'))),
      'cannot read',
    ],
    [
      'a proxy for etcd',
      selections(`{name: etcd, connection: ${socket}}`),
      'connections to etcd must be Direct',
    ],
  ])('rejects %s', (_what, text, message) => {
    expect(() => read(text)).toThrow(message);
  });
});
