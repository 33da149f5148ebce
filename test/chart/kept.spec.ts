/**
 * The values that the chart generates once: keys, tokens, certificates and the initial
 * configuration. Renders against a host that has them already, and uses them as the components do.
 */
import { X509Certificate } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectionOf } from '@orch/component';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { stockTool } from '../e2e/support/kubectl.js';
import { must, run } from '../e2e/support/process.js';
import { find, type Rendered, render, template, type Values } from './support/helm.js';
import { type NamedPod, podsOf } from './support/pods.js';
import { HostServer } from './support/server.js';

const host = new HostServer();
// Requires a lookup of StatefulSets, which this host does not serve yet.
const base = { apiserver: { membership: { enabled: false } } };
const withHosts = (externalHosts: string[]) => ({
  apiserver: { ...base.apiserver, service: { externalHosts } },
});

beforeAll(async () => {
  await host.start();
  await kubectl(['create', 'namespace', 'control']);
});
afterAll(() => host.stop());

function kubectl(args: readonly string[], input?: string): Promise<string> {
  const all = [`--kubeconfig=${host.kubeconfig}`, ...args];
  return must(stockTool('kubectl'), all, input === undefined ? {} : { input });
}

/** Helm can read from the host. */
const looking = () => ({
  isUpgrade: true,
  extraArgs: ['--dry-run=server', `--kubeconfig=${host.kubeconfig}`],
});

async function install(values: Values): Promise<Rendered[]> {
  const objects = await render(values, looking());
  await put(objects);
  return objects;
}

async function put(objects: readonly Rendered[]): Promise<void> {
  const kept = objects.filter(({ kind }) => kind === 'Secret' || kind === 'ConfigMap');
  const text = kept.map((object) => stringify(object)).join('---\n');
  await kubectl(['apply', '-f', '-'], text);
}

function certificate(objects: readonly Rendered[], name: string): X509Certificate {
  const { data } = find(objects, 'Secret', name) as unknown as { data: Record<string, string> };
  return new X509Certificate(Buffer.from(data['tls.crt']!, 'base64'));
}

const secrets = (objects: readonly Rendered[]) => objects.filter(({ kind }) => kind === 'Secret');
const annotations = (objects: readonly Rendered[]) =>
  objects.flatMap(({ kind, spec }) => {
    if (kind !== 'StatefulSet' && kind !== 'Deployment') return [];
    const { template: pod } = spec as { template: { metadata: { annotations: object } } };
    return [pod.metadata.annotations];
  });

describe('an upgrade', () => {
  let first: Rendered[];
  beforeAll(async () => {
    first = await install(base);
  });

  it('changes nothing when the values are the same', async () => {
    const second = await render(base, looking());
    expect(secrets(second)).toEqual(secrets(first));
    expect(secrets(second).length).toBeGreaterThan(8);
    expect(annotations(second)).toEqual(annotations(first));
    expect(annotations(second)).toHaveLength(3);
    expect(find(second, 'ConfigMap', 'orch-beginning')).toEqual(
      find(first, 'ConfigMap', 'orch-beginning'),
    );
  });

  it('renews only the certificate whose hosts have changed, and restarts its users', async () => {
    const second = await render(withHosts(['api.example', '192.0.2.7']), looking());
    const names = [
      ...['ca', 'peer-ca', 'peer-tls', 'component-tls', 'node-client-tls', 'tokens'],
      ...['front-proxy-ca', 'front-proxy-tls'],
    ];
    for (const name of names) {
      expect(find(second, 'Secret', `orch-${name}`)).toEqual(find(first, 'Secret', `orch-${name}`));
    }
    const serving = certificate(second, 'orch-apiserver-tls');
    expect(serving.serialNumber).not.toBe(certificate(first, 'orch-apiserver-tls').serialNumber);
    expect(serving.checkHost('api.example')).toBeDefined();
    expect(serving.checkIP('192.0.2.7')).toBeDefined();
    expect(serving.checkIssued(certificate(first, 'orch-ca'))).toBe(true);
    expect(annotations(second)).not.toEqual(annotations(first));
  });

  it('renews old certificates with the same authorities', async () => {
    const second = await render(
      { ...base, certificates: { chart: { renewAfterDays: 0 } } },
      looking(),
    );
    for (const name of ['apiserver-tls', 'peer-tls', 'component-tls', 'node-client-tls']) {
      expect(certificate(second, `orch-${name}`).serialNumber).not.toBe(
        certificate(first, `orch-${name}`).serialNumber,
      );
    }
    for (const name of ['ca', 'peer-ca', 'tokens', 'service-account-key']) {
      expect(find(second, 'Secret', `orch-${name}`)).toEqual(find(first, 'Secret', `orch-${name}`));
    }
  });

  it('retains the initial number of replicas', async () => {
    const second = await render({ apiserver: { ...base.apiserver, replicas: 5 } }, looking());
    expect(find(second, 'ConfigMap', 'orch-beginning').data).toMatchObject({
      initialReplicas: '3',
    });
    const text = JSON.stringify(find(second, 'StatefulSet', 'orch-apiserver'));
    expect(text).toContain('--initial-replicas=3');
    expect(text).toContain('orch-apiserver-2=https://');
    expect(text).not.toContain('orch-apiserver-3=https://');
  });

  it('fails as an installation with another number of replicas over retained volumes', async () => {
    const { extraArgs } = looking();
    const { code, stderr } = await template(
      { apiserver: { ...base.apiserver, replicas: 1 } },
      { extraArgs },
    );
    expect(code).not.toBe(0);
    expect(stderr).toContain('an earlier installation started with 3 replicas');
  });
});

describe('a generated value', () => {
  let objects: Rendered[];
  beforeAll(async () => {
    objects = await render(base);
  });

  it('is a certificate for every name of the API', () => {
    const serving = certificate(objects, 'orch-apiserver-tls');
    const names = [
      ...['localhost', 'orch', 'orch.default', 'orch.default.svc', 'orch-apiserver.control.svc'],
      'orch-apiserver.control.svc.cluster.local',
      'orch-apiserver-2.orch-apiserver-peers.control.svc.cluster.local',
    ];
    for (const name of names) expect(serving.checkHost(name), name).toBeDefined();
    for (const address of ['127.0.0.1', '10.96.0.1']) {
      expect(serving.checkIP(address), address).toBe(address);
    }
    expect(serving.checkHost('example.com')).toBeUndefined();
  });

  it('has separate authorities for replicas and clients', () => {
    const peer = certificate(objects, 'orch-peer-tls');
    expect(peer.checkIssued(certificate(objects, 'orch-peer-ca'))).toBe(true);
    expect(peer.checkIssued(certificate(objects, 'orch-ca'))).toBe(false);
    expect(peer.verify(certificate(objects, 'orch-peer-ca').publicKey)).toBe(true);
    expect(
      peer.checkHost('orch-apiserver-0.orch-apiserver-peers.control.svc.cluster.local'),
    ).toBeDefined();
    // For server and client use.
    expect(peer.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
  });

  it('is a working kubeconfig for every component, as mounted', () => {
    const directory = join(host.directory, 'mounted');
    mkdirSync(directory, { recursive: true });
    const { stringData } = find(objects, 'Secret', 'orch-kubeconfig') as unknown as {
      stringData: Record<string, string>;
    };
    writeFileSync(join(directory, 'kubeconfig'), stringData.kubeconfig!);
    writeFileSync(join(directory, 'ca.crt'), 'CA');
    writeFileSync(join(directory, 'token'), 'secret');
    const connection = connectionOf(join(directory, 'kubeconfig'));
    expect(connection).toMatchObject({
      server: 'https://orch-apiserver.control.svc.cluster.local:6443',
      certificateAuthorityPem: 'CA',
      token: 'secret',
    });
    const replicas = [0, 1, 2].map(
      (i) => `https://orch-apiserver-${i}.orch-apiserver-peers.control.svc.cluster.local:6443`,
    );
    expect(connection.servers).toEqual([connection.server, ...replicas]);
  });

  it('is a self-contained kubeconfig for the administrator', async () => {
    const { stringData } = find(objects, 'Secret', 'orch-admin-kubeconfig') as unknown as {
      stringData: Record<string, string>;
    };
    const file = join(host.directory, 'admin');
    writeFileSync(file, stringData.kubeconfig!);
    const { certificateAuthorityPem, token, server } = connectionOf(file);
    expect(server).toBe('https://orch-apiserver.control.svc.cluster.local:6443');
    expect(new X509Certificate(certificateAuthorityPem!).fingerprint).toBe(
      certificate(objects, 'orch-ca').fingerprint,
    );
    const tokens = find(objects, 'Secret', 'orch-tokens') as unknown as {
      stringData: Record<string, string>;
    };
    expect(token).toBe(tokens.stringData.admin);
    expect(tokens.stringData['tokens.csv']).toContain(`${token},admin,admin-uid,"system:masters"`);
    const { code } = await run(stockTool('kubectl'), [`--kubeconfig=${file}`, 'config', 'view']);
    expect(code).toBe(0);
  });

  it('gives the other users only the groups of their roles', async () => {
    const objects = await render({});
    const { stringData } = find(objects, 'Secret', 'orch-tokens') as unknown as {
      stringData: Record<string, string>;
    };
    const lines = stringData['tokens.csv']!.trim().split('\n');
    const groups = lines.map((line) => line.trim().split(',').toSpliced(0, 1).join(' '));
    expect(groups).toEqual([
      'admin admin-uid "system:masters"',
      'system:orch-controller-manager controller-manager-uid',
      'system:orch-scheduler scheduler-uid',
      'system:orch-metrics metrics-uid "system:monitoring"',
    ]);
  });
});

describe('the host', () => {
  it('accepts every pod, and every object of a kind that it serves', async () => {
    const objects = await render({ backup: { enabled: true } }, { isUpgrade: true });
    await kubectl(['apply', '-f', '-'], stringify(find(objects, 'ServiceAccount', 'orch')));
    const served = ['Secret', 'ConfigMap', 'Service', 'Deployment', 'ServiceAccount'];
    const checked = [
      ...objects.filter(({ kind }) => served.includes(kind)),
      ...podsOf(objects).map(asPod),
    ];
    expect(checked.length).toBeGreaterThan(20);
    const text = checked.map((object) => stringify(object)).join('---\n');
    const said = await kubectl(['apply', '--dry-run=server', '--validate=strict', '-f', '-'], text);
    expect(said.trim().split('\n')).toHaveLength(checked.length);
  });
});

/** One pod of a template, with a volume in place of the claim of the StatefulSet. */
function asPod({ of, labels, spec }: NamedPod): object {
  const claimed = of.startsWith('StatefulSet/') ? [{ name: 'data', emptyDir: {} }] : [];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: of.toLowerCase().replace('/', '-'), namespace: 'control', labels },
    spec: { ...spec, volumes: [...(spec.volumes ?? []), ...claimed] },
  };
}
