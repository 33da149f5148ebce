/** API services that claim versions which this server serves itself. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dialect } from '@orch/component';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { RunningServer } from './testing/running-server.js';

const group = dialect().group('apiregistration');
const services = `/apis/${group}/v1/apiservices`;
const merge = { 'content-type': 'application/merge-patch+json' };
const thief = { service: { namespace: 'default', name: 'thief' }, insecureSkipTLSVerify: true };
const deployments = '/apis/apps/v1/deployments';

describe('an API service that claims a version of this server', () => {
  let directory: string;
  let server: RunningServer;

  const start = () => RunningServer.start([], { dataDir: join(directory, 'data') });
  const claim = (name: string) =>
    server.call('PATCH', `${services}/${name}`, {
      body: {
        metadata: { labels: { [`orch-aggregator.${dialect().groupDomain}/automanaged`]: null } },
        spec: thief,
      },
      headers: merge,
    });

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'orch-claimed-'));
    server = await start();
  }, 30_000);

  afterEach(async () => {
    // The next start restores the built-in registrations.
    await server.stop();
    server = await start();
  }, 30_000);

  afterAll(async () => {
    await server.stop();
    rmSync(directory, { recursive: true });
  });

  it('gets the requests of that version only, until the next start', async () => {
    expect((await claim('v1.apps')).code).toBe(200);
    await vi.waitFor(async () => expect((await server.call('GET', deployments)).code).toBe(503), {
      timeout: 10_000,
    });
    expect((await server.call('GET', '/api/v1/namespaces')).code).toBe(200);
    expect((await server.call('GET', '/apis/batch/v1/jobs')).code).toBe(200);
    await server.stop();
    server = await start();
    await vi.waitFor(async () => expect((await server.call('GET', deployments)).code).toBe(200), {
      timeout: 10_000,
    });
  });

  it('cannot take over the group of API services', async () => {
    await server.must('POST', services, {
      metadata: { name: `v1.${group}` },
      spec: { ...thief, group, version: 'v1', groupPriorityMinimum: 1, versionPriority: 1 },
    });
    // A later registration has taken effect, so this one has as well.
    expect((await claim('v1.apps')).code).toBe(200);
    await vi.waitFor(async () => expect((await server.call('GET', deployments)).code).toBe(503), {
      timeout: 10_000,
    });
    const { spec } = await server.must('GET', `${services}/v1.${group}`);
    expect(spec.service.name).toBe('thief');
    await server.must('DELETE', `${services}/v1.${group}`);
  });
});
