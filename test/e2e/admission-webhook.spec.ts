/**
 * A webhook written with Express, in front of a cluster in the `kubernetes` dialect: it changes and
 * rejects what stock clients and the cluster's own controllers send.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AdmissionregistrationV1Api,
  ApiException,
  AppsV1Api,
  CoreV1Api,
  KubeConfig,
} from '@kubernetes/client-node';
import { ensureSelfSigned, systemClock } from '@orch/component';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Cluster } from './support/cluster.js';
import { eventually } from './support/wait.js';

const cluster = new Cluster({ dialect: 'kubernetes', replicas: 3 });
const directory = mkdtempSync(join(tmpdir(), 'orch-webhook-'));
const namespace = 'default';
const container = (image: string) => ({ name: 'main', image, command: ['sleep', '600'] });
let policy: ChildProcess;
let core: CoreV1Api;
let apps: AppsV1Api;
let registrations: AdmissionregistrationV1Api;
let clientConfig: (path: string) => { url: string; caBundle: string };

beforeAll(async () => {
  await cluster.up();
  const config = new KubeConfig();
  config.loadFromFile(cluster.kubeconfig);
  core = config.makeApiClient(CoreV1Api);
  apps = config.makeApiClient(AppsV1Api);
  registrations = config.makeApiClient(AdmissionregistrationV1Api);
  const pair = await ensureSelfSigned(
    directory,
    'policy',
    { commonName: 'policy', hosts: ['127.0.0.1'], usages: ['server'], validMs: 3_600_000 },
    systemClock,
  );
  const files = { certificate: join(directory, 'policy.pem'), key: join(directory, 'key.pem') };
  writeFileSync(files.certificate, pair.certificatePem);
  writeFileSync(files.key, pair.keyPem, { mode: 0o600 });
  const script = join(import.meta.dirname, 'support/image-policy.mjs');
  policy = spawn(process.execPath, [script, files.certificate, files.key], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = (await once(policy.stdout!, 'data')) as [Buffer];
  const caBundle = Buffer.from(pair.certificatePem).toString('base64');
  clientConfig = (path) => ({ url: `https://127.0.0.1:${Number(port)}${path}`, caBundle });
}, 240_000);

afterAll(async () => {
  policy?.kill();
  rmSync(directory, { recursive: true, force: true });
  await cluster.destroy();
});

async function messageOf(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ApiException) {
    return `${error.code} ${(JSON.parse(error.body as string) as { message: string }).message}`;
  }
  if (error) throw error;
  return 'admitted';
}

const pod = (image: string) => ({ metadata: { generateName: 'p-' }, spec: podSpec(image) });
const podSpec = (image: string) => ({ containers: [container(image)] });

function createPod(image: string): Promise<string> {
  return messageOf(core.createNamespacedPod({ namespace, body: pod(image), dryRun: 'All' }));
}

function deployment(name: string, image: string) {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: podSpec(image) };
  return { metadata: { name }, spec: { replicas: 1, selector: { matchLabels: labels }, template } };
}

const denied =
  '403 admission webhook "images.policy.example.com" denied the request: image busybox of container main has no version';

it('rejects pods, those of controllers as well, at every replica and without a restart', async () => {
  expect(await createPod('busybox')).toBe('admitted');
  await registrations.createValidatingWebhookConfiguration({
    body: {
      metadata: { name: 'images' },
      webhooks: [
        {
          name: 'images.policy.example.com',
          clientConfig: clientConfig('/images'),
          rules: [
            { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
          ],
          namespaceSelector: {
            matchExpressions: [
              { key: 'kubernetes.io/metadata.name', operator: 'In', values: [namespace] },
            ],
          },
          ...{ sideEffects: 'None', admissionReviewVersions: ['v1'] },
        },
      ],
    },
  });
  // Requests alternate between the replicas.
  await eventually('every replica to call the webhook', async () => {
    const results = await Promise.all(Array.from({ length: 9 }, () => createPod('busybox')));
    return results.every((result) => result === denied);
  });
  expect(await createPod('busybox:1.36')).toBe('admitted');
  await apps.createNamespacedDeployment({ namespace, body: deployment('floating', 'busybox') });
  await eventually('the deployment to report the rejection', async () => {
    const { status } = await apps.readNamespacedDeployment({ name: 'floating', namespace });
    return status?.conditions?.some(
      ({ type, message }) => type === 'ReplicaFailure' && message?.includes('has no version'),
    );
  });
}, 120_000);

it('changes what clients send', async () => {
  await registrations.createMutatingWebhookConfiguration({
    body: {
      metadata: { name: 'labels' },
      webhooks: [
        {
          name: 'labels.policy.example.com',
          clientConfig: clientConfig('/label'),
          rules: [
            {
              ...{ apiGroups: ['apps'], apiVersions: ['v1'] },
              ...{ operations: ['CREATE', 'UPDATE'], resources: ['deployments'] },
            },
          ],
          ...{ sideEffects: 'None', admissionReviewVersions: ['v1', 'v1beta1'] },
        },
      ],
    },
  });
  await eventually('the webhook to be called', async () => {
    const body = deployment('labelled', 'busybox:1.36');
    const { metadata } = await apps.createNamespacedDeployment({ namespace, body, dryRun: 'All' });
    return metadata?.labels?.owner === 'admin';
  });
  const { stdout } = await cluster.orchctl(
    ['apply', '-f', '-'],
    JSON.stringify({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      ...deployment('applied', 'busybox:1.36'),
    }),
  );
  expect(stdout).toBe('deployment.apps/applied created\n');
  const applied = await apps.readNamespacedDeployment({ name: 'applied', namespace });
  expect(applied.metadata?.labels?.owner).toBe('admin');
}, 120_000);

it('is no longer called when its configuration is gone', async () => {
  await registrations.deleteValidatingWebhookConfiguration({ name: 'images' });
  await eventually('every replica to admit the pod', async () => {
    const results = await Promise.all(Array.from({ length: 9 }, () => createPod('busybox')));
    return results.every((result) => result === 'admitted');
  });
}, 120_000);
