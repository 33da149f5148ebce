/** Authorities of client certificates that are added and removed while the server runs. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, issueCertificate, type KeyPairPem, systemClock } from '@orch/component';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RunningServer } from './testing/running-server.js';

const hourMs = 3_600_000;
const directory = mkdtempSync(join(tmpdir(), 'orch-authorities-'));
const file = join(directory, 'ca.crt');
const replaced = { timeout: 30_000, interval: 500 };

let server: RunningServer;
let authorities: KeyPairPem[];
const agents: Agent[] = [];

beforeAll(async () => {
  authorities = await Promise.all(
    ['first', 'second'].map((name) => createAuthority(name, hourMs, systemClock)),
  );
  writeFileSync(file, authorities[0]!.certificatePem);
  server = await RunningServer.start([`--client-ca-file=${file}`]);
});

afterAll(async () => {
  for (const agent of agents) agent.destroy();
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** An agent with one connection, which presents a certificate of the authority. */
async function agentOf(authority: KeyPairPem): Promise<Agent> {
  const { certificatePem, keyPem } = await issueCertificate(
    authority,
    { commonName: 'ann', usages: ['client'], validMs: hourMs },
    systemClock,
  );
  const connection = { cert: certificatePem, key: keyPem, rejectUnauthorized: false };
  const agent = new Agent({ ...connection, keepAlive: true, maxSockets: 1, maxCachedSessions: 0 });
  agents.push(agent);
  return agent;
}

async function codeOf(agent: Agent): Promise<number> {
  const sent = request({ host: '127.0.0.1', port: server.port, path: '/api', agent }).end();
  const [response] = await once(sent, 'response');
  response.resume();
  await once(response, 'end');
  return response.statusCode;
}

it('a removed authority ends the access of open and new connections, an added one is trusted', async () => {
  const [first, second] = authorities as [KeyPairPem, KeyPairPem];
  const openAgent = await agentOf(first);
  expect(await codeOf(openAgent)).toBe(200);
  expect(await codeOf(await agentOf(second))).toBe(401);

  writeFileSync(file, `${first.certificatePem}\n${second.certificatePem}`);
  await expect.poll(async () => codeOf(await agentOf(second)), replaced).toBe(200);
  expect(await codeOf(openAgent)).toBe(200);

  writeFileSync(file, 'no certificate');
  expect(await codeOf(openAgent)).toBe(200);

  writeFileSync(file, second.certificatePem);
  await expect.poll(() => codeOf(openAgent), replaced).toBe(401);
  expect(await codeOf(await agentOf(first))).toBe(401);
  expect(await codeOf(await agentOf(second))).toBe(200);
}, 90_000);
