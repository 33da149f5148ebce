/** Lists and watches of more bytes than one write of a response. */
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunningServer } from './testing/running-server.js';

const configMaps = '/api/v1/namespaces/default/configmaps';
let server: RunningServer;

beforeAll(async () => {
  server = await RunningServer.start();
}, 30_000);

afterAll(() => server.stop());

describe('API server', () => {
  it('serves the current objects in compressed lists', async () => {
    const path = `${configMaps}?labelSelector=size%3Dlarge`;
    const write = (name: string, letter: string) => {
      const metadata = { name, namespace: 'default', labels: { size: 'large' } };
      const body = { kind: 'ConfigMap', apiVersion: 'v1', metadata };
      const data = { text: letter.repeat(200_000) };
      return server.call('PATCH', `${configMaps}/${name}?fieldManager=test&force=true`, {
        headers: { 'content-type': 'application/apply-patch+yaml' },
        body: { ...body, data },
      });
    };
    const changes = [
      () => write('large', 'x'),
      () => server.call('POST', configMaps, { body: { metadata: { name: 'other' } } }),
      () => write('large', 'y'),
      () => server.call('DELETE', `${configMaps}/large`),
    ];
    await write('larger', 'z');
    for (const change of changes) {
      await change();
      const headers = { 'accept-encoding': 'gzip' };
      const response = await server.open('GET', path, { headers });
      expect(response.headers['content-encoding']).toBe('gzip');
      const body = gunzipSync(await buffer(response)).toString();
      expect(body === (await server.call('GET', path)).text).toBe(true);
    }
  });

  it('starts a watch whose initial state exceeds the 32 MiB that a watcher may have queued', async () => {
    await server.must('POST', '/api/v1/namespaces', { metadata: { name: 'large' } });
    const path = '/api/v1/namespaces/large/configmaps';
    const data = { text: 'x'.repeat(1_000_000) };
    const names = Array.from({ length: 36 }, (_, index) => `c${index}`);
    for (const name of names) await server.must('POST', path, { metadata: { name }, data });
    const response = await server.open('GET', `${path}?watch=1`);
    let lineCount = 0;
    for await (const chunk of response) {
      lineCount += chunk.toString('latin1').split('\n').length - 1;
      if (lineCount === names.length) break;
    }
    expect(lineCount).toBe(names.length);
  });
});
