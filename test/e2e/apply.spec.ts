/**
 * Server-side apply as users do it: objects of client-side apply are taken over, conflicts reported
 * and forced, fields given up. With our own command line and, in the other dialect, with stock
 * kubectl.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './support/api.js';
import { Cluster, type DialectName } from './support/cluster.js';
import { type Driver, driverFor } from './support/driver.js';

interface Owned {
  metadata: {
    resourceVersion: string;
    managedFields: { manager: string; operation: string; fieldsV1: Record<string, unknown> }[];
  };
  data: Record<string, string>;
}

const settings: { dialect: DialectName; tool: 'orchctl' | 'kubectl' }[] = [
  { dialect: 'orch', tool: 'orchctl' },
  { dialect: 'kubernetes', tool: 'kubectl' },
];

function manifest(data: Record<string, string>): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data });
}

describe.each(settings)('apply in the $dialect dialect with $tool', ({ dialect, tool }) => {
  const cluster = new Cluster({ dialect, components: 'apiserver' });
  let ctl: Driver;
  let api: Api;

  beforeAll(async () => {
    await cluster.up();
    ctl = driverFor(cluster, tool);
    api = new Api(cluster);
  });

  afterAll(() => cluster.destroy());

  const apply = (data: Record<string, string>, ...more: string[]) =>
    ctl.pipe(manifest(data), 'apply', '--server-side', '-f', '-', ...more);

  async function stored(): Promise<Owned> {
    return (await api.call<Owned>('GET', '/api/v1/namespaces/default/configmaps/a')).body;
  }

  async function ownerOf(key: string): Promise<string[]> {
    const { metadata } = await stored();
    return metadata.managedFields
      .filter(({ fieldsV1 }) => Object.hasOwn(fieldsV1['f:data'] ?? {}, `f:${key}`))
      .map(({ manager }) => manager);
  }

  it('takes over objects of client-side apply without a conflict', async () => {
    await ctl.pipe(manifest({ x: '1', y: '1' }), 'apply', '-f', '-');
    expect(await ownerOf('x')).toEqual([`${tool}-client-side-apply`]);
    expect(await apply({ x: '2', y: '1' })).toContain('serverside-applied');
    expect((await stored()).data).toEqual({ x: '2', y: '1' });
    expect(await ownerOf('x')).toEqual([tool]);
  });

  it('changes nothing when the configuration is already applied', async () => {
    const { metadata } = await stored();
    await apply({ x: '2', y: '1' });
    expect((await stored()).metadata).toEqual(metadata);
  });

  it('reports conflicts, and takes fields over when forced', async () => {
    const refused = await apply({ x: '3' }, '--field-manager=other').catch(String);
    expect(refused).toContain(`Apply failed with 1 conflict: conflict with "${tool}": .data.x`);
    expect((await stored()).data).toEqual({ x: '2', y: '1' });
    await apply({ x: '3' }, '--field-manager=other', '--force-conflicts');
    expect((await stored()).data).toEqual({ x: '3', y: '1' });
    expect(await ownerOf('x')).toEqual(['other']);
  });

  it('removes fields that are given up and have no other owner', async () => {
    await apply({ y: '1' }, '--field-manager=other', '--force-conflicts');
    const { data } = await stored();
    expect(data).toEqual({ y: '1' });
    expect((await ownerOf('y')).toSorted()).toContain('other');
  });

  it('creates nothing on a dry run', async () => {
    const before = await stored();
    await apply({ y: '9' }, '--dry-run=server', '--force-conflicts');
    expect(await stored()).toEqual(before);
  });

  describe('through the interface', () => {
    const apps = '/apis/apps/v1/namespaces/default/deployments';
    const labels = { app: 'web' };
    const spec = {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a:1' }] } },
    };

    function send<T>(path: string, config: object, query = 'fieldManager=reporter') {
      const body = JSON.stringify(config);
      return api.send<T>('PATCH', `${path}?${query}`, body, 'application/apply-patch+yaml');
    }

    it('owns only the status when it applies a status', async () => {
      const config = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } };
      const status = { ...config, spec: { replicas: 7 }, status: { observedGeneration: 1 } };
      expect((await send(`${apps}/web/status`, status)).status).toBe(404);
      expect((await send(`${apps}/web`, { ...config, spec }, 'fieldManager=maker')).status).toBe(
        201,
      );
      const { status: code, body } = await send<Owned & { spec: { replicas: number } }>(
        `${apps}/web/status`,
        status,
      );
      expect([code, body.spec.replicas]).toEqual([200, 1]);
      const entry = body.metadata.managedFields.find(({ manager }) => manager === 'reporter');
      expect(entry?.fieldsV1).toEqual({ 'f:status': { 'f:observedGeneration': {} } });
    });

    it('scales when forced, because a scale has no owners', async () => {
      const config = {
        apiVersion: 'autoscaling/v1',
        kind: 'Scale',
        metadata: { name: 'web' },
        spec: { replicas: 3 },
      };
      const refused = await send<{ message: string }>(`${apps}/web/scale`, config);
      expect([refused.status, refused.body.message]).toEqual([
        409,
        'Apply failed with 1 conflict: conflict with "before-first-apply" using autoscaling/v1: .spec.replicas',
      ]);
      const query = 'fieldManager=reporter&force=true';
      const forced = await send<{ spec: object }>(`${apps}/web/scale`, config, query);
      expect([forced.status, forced.body.spec]).toEqual([200, { replicas: 3 }]);
    });

    it('stores an object without its managed fields when they make it too large', async () => {
      const data = Object.fromEntries(
        Array.from({ length: 55_000 }, (_, index) => [`key-${index}`, 'some value']),
      );
      const made = await api.call<Owned>('POST', '/api/v1/namespaces/default/configmaps', {
        metadata: { name: 'large' },
        data,
      });
      expect([made.status, made.body.metadata.managedFields]).toEqual([201, undefined]);
    });
  });
});
