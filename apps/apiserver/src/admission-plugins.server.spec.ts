/** Servers with other admission plugins than the default ones. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dialect } from '@orch/component';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunningServer } from './testing/running-server.js';

const pods = '/api/v1/namespaces/new/pods';
const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'a', image: 'i:1' }] } };

describe('a server with other admission plugins', () => {
  let server: RunningServer;

  beforeAll(async () => {
    server = await RunningServer.start([
      '--enable-admission-plugins=NamespaceAutoProvision,AlwaysPullImages',
      '--disable-admission-plugins=ServiceAccount,DefaultTolerationSeconds',
    ]);
  }, 30_000);

  afterAll(() => server.stop());

  it('creates a missing namespace with the first object in it, but not for a dry run', async () => {
    const dry = await server.call('POST', `${pods}?dryRun=All`, { body: pod });
    expect(dry.code).toBe(404);
    expect((await server.call('GET', '/api/v1/namespaces/new')).code).toBe(404);
    const many = await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        server.call('POST', pods, { body: { ...pod, metadata: { name } } }),
      ),
    );
    expect(many.map(({ code }) => code)).toEqual([201, 201, 201]);
    const { status } = await server.must('GET', '/api/v1/namespaces/new');
    expect(status.phase).toBe('Active');
  });

  it('runs the enabled plugins and not the disabled ones', async () => {
    const { spec } = await server.must('POST', pods, pod);
    expect(spec.containers[0].imagePullPolicy).toBe('Always');
    expect(spec.serviceAccountName).toBeUndefined();
    expect(spec.tolerations).toBeUndefined();
  });
});

describe('a server with configured admission plugins', () => {
  let directory: string;
  let server: RunningServer;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'orch-admission-'));
    const file = join(directory, 'admission.yaml');
    writeFileSync(
      file,
      `apiVersion: ${dialect().apiVersion('apiserver.config', 'v1')}
kind: AdmissionConfiguration
plugins:
- name: EventRateLimit
  configuration:
    apiVersion: ${dialect().apiVersion('eventratelimit.admission', 'v1alpha1')}
    kind: Configuration
    limits: [{type: Namespace, qps: 1, burst: 1}]
`,
    );
    server = await RunningServer.start([
      `--admission-control-config-file=${file}`,
      '--enable-admission-plugins=EventRateLimit,PodSecurityPolicy',
      '--disable-admission-plugins=ServiceAccount',
    ]);
  }, 30_000);

  afterAll(async () => {
    await server.stop();
    rmSync(directory, { recursive: true });
  });

  it('limits events', async () => {
    const write = (name: string) =>
      server.call('POST', '/api/v1/namespaces/default/events', {
        body: {
          metadata: { name },
          involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
        },
      });
    const codes = [];
    for (const name of ['a', 'b', 'c', 'd']) codes.push((await write(name)).code);
    expect(codes[0]).toBe(201);
    expect(codes).toContain(429);
  });

  it('admits pods by pod security policies', async () => {
    const path = '/api/v1/namespaces/default/pods';
    expect((await server.call('POST', path, { body: pod })).code).toBe(403);
    const anyId = { rule: 'RunAsAny' };
    await server.must('POST', '/apis/policy/v1beta1/podsecuritypolicies', {
      metadata: { name: 'restricted' },
      spec: {
        ...{ seLinux: anyId, runAsUser: anyId, supplementalGroups: anyId, fsGroup: anyId },
        requiredDropCapabilities: ['ALL'],
      },
    });
    const { metadata, spec } = await server.must('POST', path, pod);
    expect(metadata.annotations[dialect().key('psp')]).toBe('restricted');
    expect(spec.containers[0].securityContext.capabilities).toEqual({ drop: ['ALL'] });
  });
});
