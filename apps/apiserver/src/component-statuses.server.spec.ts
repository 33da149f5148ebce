/** Component statuses of a complete server. */
import { dialect } from '@orch/component';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunningServer } from './testing/running-server.js';

const statuses = '/api/v1/componentstatuses';

describe('component statuses', () => {
  let server: RunningServer;

  beforeAll(async () => {
    server = await RunningServer.start();
    const { systemNamespace } = dialect();
    const group = dialect().group('coordination');
    const leases = `/apis/${group}/v1/namespaces/${systemNamespace}/leases`;
    await server.must('POST', leases, {
      metadata: { name: dialect().systemName('scheduler') },
      spec: {
        holderIdentity: 'me',
        leaseDurationSeconds: 3_600,
        renewTime: new Date().toISOString().replace('Z', '000Z'),
      },
    });
  }, 30_000);

  afterAll(() => server.stop());

  it('report healthy and unhealthy components', async () => {
    const response = await server.call('GET', statuses);
    expect(response.headers.warning).toBe('299 - "v1 ComponentStatus is deprecated in v1.19+"');
    expect(response.body.kind).toBe('ComponentStatusList');
    const { systemNamespace } = dialect();
    const manager = dialect().systemName('controller-manager');
    expect(response.body.items).toEqual([
      {
        metadata: { name: 'scheduler' },
        conditions: [{ type: 'Healthy', status: 'True', message: 'ok' }],
      },
      {
        metadata: { name: 'controller-manager' },
        conditions: [
          {
            type: 'Healthy',
            status: 'False',
            error: `the lease ${systemNamespace}/${manager} has no holder`,
          },
        ],
      },
      {
        metadata: { name: 'etcd-0' },
        conditions: [{ type: 'Healthy', status: 'True', message: '{"health":"true"}' }],
      },
    ]);
  });

  it('are served as tables, individually and by selector', async () => {
    const headers = { accept: 'application/json;as=Table;v=v1;g=meta.orch.io' };
    const table = await server.call('GET', statuses, { headers });
    expect(table.body.rows[0].cells).toEqual(['scheduler', 'Healthy', 'ok', '']);
    expect((await server.must('GET', `${statuses}/etcd-0`)).kind).toBe('ComponentStatus');
    const selected = await server.must('GET', `${statuses}?fieldSelector=metadata.name%3Detcd-0`);
    expect(selected.items).toHaveLength(1);
  });

  it.each([
    ['GET', `${statuses}/nothing`, 404],
    ['DELETE', `${statuses}/etcd-0`, 405],
    ['GET', `${statuses}?watch=1`, 405],
    ['POST', statuses, 405],
  ])('are read only: %s %s', async (method, path, code) => {
    expect((await server.call(method, path)).code).toBe(code);
  });
});
