/** A server that decides by a policy file. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { RunningServer } from './testing/running-server.js';

it('allows the requests that the policy file allows', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-abac-'));
  const path = join(directory, 'policies.jsonl');
  writeFileSync(path, '{"user":"ann","namespace":"default","readonly":true}\n');
  const flags = ['--authorization-mode=ABAC', `--authorization-policy-file=${path}`];
  const server = await RunningServer.start(flags, { users: ['ann', 'bob'] });
  try {
    const codeFor = async (method: string, user: string, namespace: string) => {
      const url = `/api/v1/namespaces/${namespace}/configmaps`;
      const body = method === 'POST' ? { metadata: { name: 'a' } } : undefined;
      return (await server.call(method, url, { token: user, body })).code;
    };
    expect(await codeFor('GET', 'ann', 'default')).toBe(200);
    expect(await codeFor('POST', 'ann', 'default')).toBe(403);
    expect(await codeFor('GET', 'ann', 'other')).toBe(403);
    expect(await codeFor('GET', 'bob', 'default')).toBe(403);
    expect(await codeFor('POST', 'secret', 'default')).toBe(201);
  } finally {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}, 30_000);
