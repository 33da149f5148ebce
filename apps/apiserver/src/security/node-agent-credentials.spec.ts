import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, type KeyPairPem, systemClock } from '@orch/component';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ApiServerOptions } from '../options/api-server-options.js';
import { NodeAgentCredentials } from './node-agent-credentials.js';

describe('NodeAgentCredentials', () => {
  let directory: string;
  let credentials: NodeAgentCredentials;
  let first: KeyPairPem;
  const messages: string[] = [];
  const note = (...line: unknown[]) => messages.push(String(line[1]));
  const file = (name: string) => join(directory, name);
  const pair = () => createAuthority('a', 3_600_000, systemClock);

  function put({ certificatePem, keyPem }: KeyPairPem): void {
    writeFileSync(file('a.crt'), certificatePem);
    writeFileSync(file('a.key'), keyPem);
    writeFileSync(file('ca.crt'), certificatePem);
  }

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'orch-node-agents-'));
    first = await pair();
    put(first);
    messages.length = 0;
    const options = {
      nodeAgentCertificate: file('a.crt'),
      nodeAgentKey: file('a.key'),
      nodeAgentAuthority: file('ca.crt'),
      nodeAgentAddressTypes: ['InternalIP'],
    } as ApiServerOptions;
    credentials = new NodeAgentCredentials(options, systemClock, { info: note, warn: note });
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('are replaced when their files change', async () => {
    await credentials.check();
    expect(messages).toEqual([]);
    const next = await pair();
    put(next);
    await credentials.check();
    expect(credentials).toMatchObject({
      certificatePem: next.certificatePem,
      keyPem: next.keyPem,
      authorityPem: next.certificatePem,
    });
    expect(messages).toEqual(['node agent credentials replaced']);
  });

  it('stay in use while the files are half rotated, missing or no certificates', async () => {
    const next = await pair();
    writeFileSync(file('a.crt'), next.certificatePem);
    await credentials.check();
    put(next);
    writeFileSync(file('ca.crt'), 'garbage');
    await credentials.check();
    rmSync(file('a.key'));
    await credentials.check();
    expect(credentials.certificatePem).toBe(first.certificatePem);
    expect(new Set(messages)).toEqual(new Set(['changed node agent files cannot be used']));
    expect(messages).toHaveLength(3);
  });
});
