import { X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectionOf, selectDialect } from '@orch/component';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addressBlock } from '../cluster/address-block.js';
import { apiUrls } from '../cluster/api-server-addresses.js';
import { type ClusterConfig, clusterPaths, noteFounded } from '../cluster/cluster-directory.js';
import {
  componentKubeconfig,
  pkiFiles,
  serviceAccountKey,
} from '../credentials/credential-files.js';
import { ensureCredentials } from '../credentials/credentials.js';
import { componentSpecs } from './components.js';

let dataDirectory: string;
beforeEach(() => {
  dataDirectory = mkdtempSync(join(tmpdir(), 'orch-replicas-'));
  const paths = clusterPaths(dataDirectory);
  for (const path of [paths.pki, paths.components]) mkdirSync(path);
  selectDialect('orch');
});
afterEach(() => rmSync(dataDirectory, { recursive: true }));

const settingsFor = (replicaCount: number): ClusterConfig => ({
  formatVersion: 2,
  dialect: 'orch',
  port: 6443,
  nodeCount: 1,
  replicaCount,
  clusterToken: 'abc',
  isFounded: false,
  withRoot: false,
  addresses: addressBlock(1, false),
});

function flagsOf(args: readonly string[], name: string): string[] {
  const prefix = `--${name}=`;
  return args.filter((arg) => arg.startsWith(prefix)).map((arg) => arg.slice(prefix.length));
}

describe('the API servers of a cluster', () => {
  it('have flags that name each other, and share only keys and tokens', () => {
    const settings = settingsFor(3);
    const specs = componentSpecs({ dataDirectory, settings }, ['apiserver'], new Map());
    expect(specs.map(({ name }) => name)).toEqual(['apiserver-1', 'apiserver-2', 'apiserver-3']);
    const peers = 'apiserver-1=https://127.0.0.1:20242,apiserver-2=https://127.0.0.1:20243';
    for (const { name, args } of specs) {
      expect(flagsOf(args, 'initial-cluster')).toEqual([
        `${peers},apiserver-3=https://127.0.0.1:20244`,
      ]);
      expect(flagsOf(args, 'member-name')).toEqual([name]);
      expect(peers + flagsOf(args, 'listen-peer-url')).toContain('https://127.0.0.1:2024');
    }
    const valuesOf = (flag: string) => new Set(specs.flatMap(({ args }) => flagsOf(args, flag)));
    for (const own of ['data-dir', 'secure-port', 'listen-peer-url', 'peer-cert-file']) {
      expect(valuesOf(own).size).toBe(3);
    }
    for (const shared of ['service-account-signing-key-file', 'token-auth-file']) {
      expect(valuesOf(shared).size).toBe(1);
    }
    expect(specs.map(({ probe }) => probe.port)).toEqual([6443, 20238, 20239]);
  });

  it('bootstrap a cluster together, and join as new members after a loss of their data', () => {
    for (const [replicaCount, later] of [
      [3, 'join'],
      [1, 'new'],
    ] as const) {
      const settings = settingsFor(replicaCount);
      writeFileSync(clusterPaths(dataDirectory).settings, JSON.stringify(settings));
      const [spec] = componentSpecs({ dataDirectory, settings }, ['apiserver'], new Map());
      expect(spec?.startArgs?.()).toEqual(['--initial-cluster-state=new']);
      noteFounded(dataDirectory);
      expect(spec?.startArgs?.()).toEqual([`--initial-cluster-state=${later}`]);
    }
  });

  it('have peer certificates of an authority that signs no client certificates', async () => {
    const settings = settingsFor(3);
    const { authorityPem } = await ensureCredentials(dataDirectory, settings, []);
    const read = (name: string) =>
      new X509Certificate(readFileSync(pkiFiles(dataDirectory, name).certificate));
    const peers = read('peer-ca');
    for (const name of ['apiserver-1', 'apiserver-2', 'apiserver-3']) {
      const certificate = read(`${name}-peer`);
      expect(certificate.subject).toBe(`CN=${name}`);
      expect(certificate.verify(peers.publicKey)).toBe(true);
      expect(certificate.verify(new X509Certificate(authorityPem).publicKey)).toBe(false);
      expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
      expect(certificate.checkHost('localhost')).toBe('localhost');
    }
    expect(statSync(serviceAccountKey(dataDirectory)).mode & 0o077).toBe(0);
  });

  it('have a front-proxy certificate of an authority that signs nothing else', async () => {
    const settings = settingsFor(1);
    const { authorityPem } = await ensureCredentials(dataDirectory, settings, []);
    const read = (name: string) =>
      new X509Certificate(readFileSync(pkiFiles(dataDirectory, name).certificate));
    const client = read('front-proxy-client');
    expect(client.subject).toBe('CN=front-proxy-client');
    expect(client.verify(read('front-proxy-ca').publicKey)).toBe(true);
    expect(client.verify(new X509Certificate(authorityPem).publicKey)).toBe(false);
    const [spec] = componentSpecs({ dataDirectory, settings }, ['apiserver'], new Map());
    const { certificate, key } = pkiFiles(dataDirectory, 'front-proxy-client');
    expect(spec?.args).toContain(`--proxy-client-cert-file=${certificate}`);
    expect(spec?.args).toContain(`--proxy-client-key-file=${key}`);
    expect(spec?.args).toContain('--requestheader-allowed-names=front-proxy-client');
  });

  it('are no administrators at node agents', async () => {
    await ensureCredentials(dataDirectory, settingsFor(1), []);
    const { certificate } = pkiFiles(dataDirectory, 'apiserver-client');
    const { subject } = new X509Certificate(readFileSync(certificate));
    expect(subject).toBe('CN=orch-apiserver-client');
  });

  it('are all in the kubeconfigs, and retain their credentials over restarts', async () => {
    const settings = settingsFor(3);
    const identity = { name: 'scheduler', user: 'system:x', groups: [] };
    await ensureCredentials(dataDirectory, settings, [identity]);
    const { kubeconfig } = clusterPaths(dataDirectory);
    for (const path of [kubeconfig, componentKubeconfig(dataDirectory, 'scheduler')]) {
      expect(connectionOf(path)).toMatchObject({
        server: 'https://127.0.0.1:6443',
        servers: apiUrls(settings),
      });
    }
    const retained = [serviceAccountKey(dataDirectory), pkiFiles(dataDirectory, 'peer-ca').key];
    const before = retained.map((path) => readFileSync(path, 'utf8'));
    await ensureCredentials(dataDirectory, settings, [identity]);
    expect(retained.map((path) => readFileSync(path, 'utf8'))).toEqual(before);
  });
});
