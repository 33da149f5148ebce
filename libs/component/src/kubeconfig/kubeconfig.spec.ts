import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  connectionOf,
  type Kubeconfig,
  KubeconfigError,
  readKubeconfig,
  singleKubeconfig,
  writeKubeconfig,
} from './kubeconfig.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'orch-kubeconfig-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

describe('the schema of a kubeconfig', () => {
  it.each([
    ['[a]', 'the document is not a map'],
    ['clusters: 5', 'clusters is not a list'],
    ['users: [{user: {exec: {args: [null, a]}}}]', 'users[0].user.exec.args[0] is not a string'],
    ['contexts: [null]', 'contexts[0] is not a map'],
    ['clusters: [{name: c, cluster: {server: {}}}]', 'clusters[0].cluster.server is not a string'],
    ['users: [{name: u, user: {token: 5}}]', 'users[0].user.token is not a string'],
    ['users: [{name: u, user: {as-groups: [1]}}]', 'users[0].user.as-groups[0] is not a string'],
  ])('is refused: %s', (text, fault) => {
    const path = join(directory, 'kubeconfig');
    writeFileSync(path, text);
    expect(() => connectionOf(path)).toThrow(KubeconfigError);
    expect(() => connectionOf(path)).toThrow(fault);
  });

  it('allows fields without a value and unknown fields', () => {
    const path = join(directory, 'kubeconfig');
    writeFileSync(
      path,
      `{current-context: x, more: {a: 1}, users: null, clusters: [{name: c, cluster: {server: "https://a:1", certificate-authority-data: null}}],
      contexts: [{name: x, context: {cluster: c, user: u, namespace: null}}]}`,
    );
    expect(connectionOf(path)).toMatchObject({ server: 'https://a:1', namespace: undefined });
  });
});

describe('kubeconfig', () => {
  it('reads the written configuration, in a file with mode 0600', () => {
    const path = join(directory, 'kubeconfig');
    writeKubeconfig(
      path,
      singleKubeconfig({
        clusterName: 'orch',
        userName: 'admin',
        servers: ['https://127.0.0.1:6443/'],
        certificateAuthorityPem: 'CA',
        clientCertificatePem: 'CERT',
        clientKeyPem: 'KEY',
      }),
    );
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(connectionOf(path)).toMatchObject({
      server: 'https://127.0.0.1:6443',
      servers: ['https://127.0.0.1:6443'],
      certificateAuthorityPem: 'CA',
      clientCertificatePem: 'CERT',
      clientKeyPem: 'KEY',
    });
  });

  it('writes names that are no texts in YAML 1.1 so that every tool reads them', () => {
    const path = join(directory, 'kubeconfig');
    const names = ['n', 'yes', 'off', '1_000', '0x1f', '1:30', '~', 'true', '012', 'a: b', '1e3'];
    const users = names.map((name) => ({ name, user: { token: name } }));
    const config: Kubeconfig = {
      ...{ apiVersion: 'v1', kind: 'Config', clusters: [], contexts: [], users },
      'current-context': '',
    };
    writeKubeconfig(path, config);
    expect(readKubeconfig(path)).toEqual(config);
    expect(parse(readFileSync(path, 'utf8'), { version: '1.1' })).toEqual(config);
  });

  it('stores interchangeable servers in an extension that other tools ignore', () => {
    const path = join(directory, 'kubeconfig');
    const servers = ['https://a:1', 'https://b:2', 'https://c:3'];
    writeKubeconfig(
      path,
      singleKubeconfig({
        clusterName: 'orch',
        userName: 'admin',
        servers,
        certificateAuthorityPem: 'CA',
      }),
    );
    expect(connectionOf(path)).toMatchObject({ server: 'https://a:1', servers });
    expect(readKubeconfig(path).clusters[0]?.cluster).toMatchObject({
      server: 'https://a:1',
      extensions: [{ name: 'endpoints', extension: { servers } }],
    });
  });

  it('rejects invalid endpoints', () => {
    const path = join(directory, 'config');
    const write = (extension: string) =>
      writeFileSync(
        path,
        `clusters: [{name: c, cluster: {server: 'https://x', extensions: [{name: endpoints, extension: ${extension}}]}}]
contexts: [{name: a, context: {cluster: c, user: u}}]
current-context: a
`,
      );
    for (const extension of ['null', '{}', '{servers: [6443]}', "{servers: ['ftp://x']}"]) {
      write(extension);
      expect(() => connectionOf(path)).toThrow(/extension "endpoints"/);
    }
    write("{servers: ['https://y/']}");
    expect(connectionOf(path).servers).toEqual(['https://x', 'https://y']);
  });

  it('reads referenced files relative to the kubeconfig', () => {
    const path = join(directory, 'config');
    writeFileSync(join(directory, 'ca.pem'), 'CA');
    writeFileSync(join(directory, 'token'), 'secret\n');
    writeFileSync(
      path,
      `clusters: [{name: c, cluster: {server: 'https://x', certificate-authority: ca.pem}}]
users: [{name: u, user: {tokenFile: token}}]
contexts: [{name: a, context: {cluster: c, user: u, namespace: ns}}]
`,
    );
    expect(connectionOf(path, 'a')).toMatchObject({
      certificateAuthorityPem: 'CA',
      token: 'secret',
      namespace: 'ns',
    });
    expect(() => connectionOf(path, 'b')).toThrow(/has no context "b"; existing contexts: a/);
  });

  it('reports the path of a file that cannot be read', () => {
    expect(() => connectionOf(join(directory, 'none'))).toThrow(KubeconfigError);
    expect(() => connectionOf(join(directory, 'none'))).toThrow(/none/);
  });
});
