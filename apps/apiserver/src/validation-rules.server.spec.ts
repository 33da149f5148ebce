/**
 * The validation rules that no recorded case exercises, on a server with every feature: each probe
 * breaks one rule, and the response must name the field and the reason.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProbes } from './testing/create-probes.js';
import { RunningServer } from './testing/running-server.js';
import { updateProbes } from './testing/update-probes.js';

const merge = { 'content-type': 'application/merge-patch+json' };

let server: RunningServer;

beforeAll(async () => {
  server = await RunningServer.start(['--feature-gates=AllAlpha=true']);
  await server.must('POST', '/api/v1/namespaces/default/serviceaccounts', {
    metadata: { name: 'default' },
    automountServiceAccountToken: false,
  });
}, 30_000);

afterAll(() => server.stop());

describe('rules of creation', () => {
  it.each(createProbes)('reject $rule', async ({ path, body, expected }) => {
    const { code, body: status } = await server.call('POST', `${path}?dryRun=All`, { body });
    expect([code, status.message]).toEqual([422, expect.stringContaining(expected)]);
  });
});

describe('rules of updates', () => {
  let serial = 0;

  it.each(updateProbes)('reject $rule', async (probe) => {
    const { path, body, stored, subresource = '', patch, expected } = probe;
    serial += 1;
    const name = body.metadata?.name ?? `probe-${serial}`;
    const address = `${path}/${name}`;
    await server.must('POST', path, { ...body, metadata: { ...body.metadata, name } });
    if (stored) {
      const headers = merge;
      const prepared = await server.call('PATCH', `${address}/status`, { body: stored, headers });
      expect([prepared.code, prepared.body.message]).toEqual([200, undefined]);
    }
    const headers = merge;
    const changed = await server.call('PATCH', `${address}${subresource}`, {
      body: patch,
      headers,
    });
    expect([changed.code, changed.body.message]).toEqual([422, expect.stringContaining(expected)]);
  });
});
