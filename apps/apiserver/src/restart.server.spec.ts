/**
 * The reconciliation of the objects of a new cluster, while the server runs and at its next start.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, systemClock } from '@orch/component';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { RunningServer } from './testing/running-server.js';

const directory = mkdtempSync(join(tmpdir(), 'orch-restart-'));
const roles = '/apis/rbac.authorization.orch.io/v1/clusterroles';
const bindings = '/apis/rbac.authorization.orch.io/v1/clusterrolebindings';
const autoUpdate = 'rbac.authorization.orch.io/autoupdate';
const configMap = '/api/v1/namespaces/orch-system/configmaps/extension-apiserver-authentication';
const merge = { 'content-type': 'application/merge-patch+json' };

function start(): Promise<RunningServer> {
  return RunningServer.start([
    `--data-dir=${join(directory, 'data')}`,
    `--client-ca-file=${join(directory, 'ca.pem')}`,
  ]);
}

describe('the objects of a new cluster', () => {
  let server: RunningServer;
  let authorityPem: string;

  beforeAll(async () => {
    authorityPem = (await createAuthority('clients', 3_600_000, systemClock)).certificatePem;
    writeFileSync(join(directory, 'ca.pem'), authorityPem);
    server = await start();
  }, 30_000);

  afterAll(async () => {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const patch = (path: string, body: object) =>
    server.call('PATCH', path, { body, headers: merge });

  it('are recreated while the server runs', async () => {
    const service = '/api/v1/namespaces/default/services/orch';
    await server.must('DELETE', service);
    await server.must('DELETE', configMap);
    await vi.waitFor(() => server.must('GET', service), { timeout: 10_000 });
    const made = await vi.waitFor(() => server.must('GET', configMap), { timeout: 10_000 });
    expect(made.data['client-ca-file'].trim()).toBe(authorityPem.trim());
  });

  it('are completed at the next start, unless an annotation disables updates', async () => {
    const extra = { verbs: ['get'], apiGroups: [''], resources: ['extras'] };
    await patch(`${roles}/system:basic-user`, { rules: [extra] });
    await patch(`${roles}/system:heapster`, {
      rules: [extra],
      metadata: { annotations: { [autoUpdate]: 'false' } },
    });
    await patch(`${bindings}/system:basic-user`, { subjects: [{ kind: 'User', name: 'kept' }] });
    await server.must('DELETE', `${roles}/system:discovery`);
    await server.must('DELETE', `${bindings}/system:discovery`);
    await server.must('POST', bindings, {
      metadata: { name: 'system:discovery' },
      roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'other' },
    });
    await server.stop();
    server = await start();

    const basic = await server.must('GET', `${roles}/system:basic-user`);
    expect(basic.rules).toContainEqual(extra);
    expect(basic.rules.slice(1)).toEqual(
      ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'].map((resource) => ({
        verbs: ['create'],
        apiGroups: ['authorization.orch.io'],
        resources: [resource],
      })),
    );
    const left = await server.must('GET', `${roles}/system:heapster`);
    expect(left.rules).toEqual([extra]);
    const { subjects } = await server.must('GET', `${bindings}/system:basic-user`);
    expect(subjects.map(({ name }: { name: string }) => name)).toEqual([
      'kept',
      'system:authenticated',
    ]);
    expect((await server.must('GET', `${roles}/system:discovery`)).rules).toHaveLength(1);
    const { roleRef } = await server.must('GET', `${bindings}/system:discovery`);
    expect(roleRef.name).toBe('system:discovery');
  }, 30_000);
});
