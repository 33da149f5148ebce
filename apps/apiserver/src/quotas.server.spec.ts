/** Quotas of a complete server: over HTTP, with concurrent requests, without a controller. */
import { dialect } from '@orch/component';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunningServer } from './testing/running-server.js';

const core = '/api/v1/namespaces/default';
const merge = { 'content-type': 'application/merge-patch+json' };

describe('quotas', () => {
  let server: RunningServer;

  beforeAll(async () => {
    server = await RunningServer.start();
    await server.must('POST', `${core}/serviceaccounts`, { metadata: { name: 'default' } });
  }, 30_000);

  afterAll(() => server.stop());

  /** Runs `test` with a quota of which nothing is used, then deletes the quota. */
  async function withQuota(hard: Record<string, string>, test: () => Promise<void>, spec = {}) {
    const used = Object.fromEntries(Object.keys(hard).map((name) => [name, '0']));
    await server.must('POST', `${core}/resourcequotas`, {
      metadata: { name: 'q' },
      spec: { hard, ...spec },
    });
    const body = { status: { hard, used } };
    await server.call('PATCH', `${core}/resourcequotas/q/status`, { body, headers: merge });
    try {
      await test();
    } finally {
      await server.must('DELETE', `${core}/resourcequotas/q`);
    }
  }

  const used = async () => (await server.must('GET', `${core}/resourcequotas/q`)).status.used;
  const post = (plural: string, body: object, query = '') =>
    server.call('POST', `${core}/${plural}${query}`, { body });

  it('admit exactly the quota under concurrent requests', async () => {
    await withQuota({ configmaps: '7', 'count/configmaps': '9' }, async () => {
      const responses = await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          post('configmaps', { metadata: { name: `many-${index}` } }),
        ),
      );
      const codes = responses.map(({ code }) => code);
      expect(codes.filter((code) => code === 201)).toHaveLength(7);
      expect(codes.filter((code) => code === 403)).toHaveLength(33);
      expect(await used()).toEqual({ configmaps: '7', 'count/configmaps': '7' });
    });
  });

  it('charge nothing for a dry run or an invalid object', async () => {
    await withQuota({ secrets: '1' }, async () => {
      expect((await post('secrets', { metadata: { name: 's' } }, '?dryRun=All')).code).toBe(201);
      expect((await post('secrets', { metadata: { name: 'Not a name' } })).code).toBe(422);
      expect(await used()).toEqual({ secrets: '0' });
      expect((await post('secrets', { metadata: { name: 's' } })).code).toBe(201);
      expect((await post('secrets', { metadata: { name: 't' } }, '?dryRun=All')).code).toBe(403);
      expect(await used()).toEqual({ secrets: '1' });
    });
  });

  it('release the charge of a create whose name is taken', async () => {
    await server.must('POST', `${core}/configmaps`, { metadata: { name: 'taken' } });
    await withQuota({ configmaps: '1', 'count/configmaps': '1' }, async () => {
      expect((await post('configmaps', { metadata: { name: 'taken' } })).code).toBe(409);
      expect(await used()).toEqual({ configmaps: '0', 'count/configmaps': '0' });
    });
  });

  it('count a kind in each of its groups', async () => {
    const group = dialect().group('networking');
    const names = [`count/ingresses.${group}`, 'count/ingresses.extensions'] as const;
    await withQuota({ [names[0]]: '1', [names[1]]: '1' }, async () => {
      const spec = { defaultBackend: { service: { name: 's', port: { number: 1 } } } };
      const path = `/apis/${group}/v1/namespaces/default/ingresses`;
      await server.must('POST', path, { metadata: { name: 'i' }, spec });
      expect(await used()).toEqual({ [names[0]]: '1', [names[1]]: '1' });
      const { code, body } = await server.call('POST', path, {
        body: { metadata: { name: 'j' }, spec },
      });
      expect([code, body.message]).toEqual([403, expect.stringContaining('exceeded quota: q')]);
    });
  });

  it('charge updates of services', async () => {
    await withQuota({ 'services.nodeports': '1' }, async () => {
      const spec = { ports: [{ port: 80 }] };
      await server.must('POST', `${core}/services`, { metadata: { name: 's' }, spec });
      expect(await used()).toEqual({ 'services.nodeports': '0' });
      const change = (body: object) =>
        server.call('PATCH', `${core}/services/s`, { body, headers: merge });
      expect((await change({ spec: { type: 'NodePort' } })).code).toBe(200);
      expect(await used()).toEqual({ 'services.nodeports': '1' });
      const two = {
        spec: {
          ports: [
            { port: 80, name: 'a' },
            { port: 81, name: 'b' },
          ],
        },
      };
      const { code, body } = await change(two);
      expect([code, body.message]).toEqual([
        403,
        'services "s" is forbidden: exceeded quota: q, requested: services.nodeports=1, used: services.nodeports=1, limited: services.nodeports=1',
      ]);
      expect((await change({ metadata: { labels: { a: 'b' } } })).code).toBe(200);
      expect(await used()).toEqual({ 'services.nodeports': '1' });
    });
  });

  it('report the generated name of a rejected object without a name', async () => {
    await withQuota(
      { pods: '0' },
      async () => {
        const spec = { containers: [{ name: 'a', image: 'i' }] };
        const { code, body } = await post('pods', { metadata: { generateName: 'p-' }, spec });
        expect(code).toBe(403);
        expect(body.message).toMatch(
          /^pods "p-.*" is forbidden: exceeded quota: q, requested: pods=1/,
        );
        const small = {
          containers: [{ name: 'a', image: 'i', resources: { limits: { cpu: '1' } } }],
        };
        expect((await post('pods', { metadata: { name: 'p' }, spec: small })).code).toBe(201);
      },
      { scopes: ['BestEffort'] },
    );
  });
});
