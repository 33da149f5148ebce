/** Resources of measured servers: a directory on the measured disk, certificates, free ports. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createAuthority,
  issueCertificate,
  systemClock,
} from '../../dist/libs/component/src/index.js';

const yearMs = 365 * 86_400_000;

/** Creates a temporary directory, on another disk if `ORCH_BENCH_DIRECTORY` is set. */
export function makeDirectory(name) {
  return mkdtemp(join(process.env.ORCH_BENCH_DIRECTORY ?? tmpdir(), `${name}-`));
}

export function removeDirectory(directory) {
  return rm(directory, { recursive: true, force: true });
}

/** Creates files of an authority and of one key pair for both ends of every connection. */
export async function makeCertificates(directory) {
  const authority = await createAuthority('bench authority', yearMs, systemClock);
  const request = {
    commonName: 'bench',
    usages: ['server', 'client'],
    hosts: ['127.0.0.1', 'localhost'],
    validMs: yearMs,
  };
  const pair = await issueCertificate(authority, request, systemClock);
  const files = {
    authorityFile: join(directory, 'ca.crt'),
    certificateFile: join(directory, 'node.crt'),
    keyFile: join(directory, 'node.key'),
  };
  await writeFile(files.authorityFile, authority.certificatePem);
  await writeFile(files.certificateFile, pair.certificatePem);
  await writeFile(files.keyFile, pair.keyPem);
  return files;
}

export async function freePorts(count) {
  const probes = Array.from({ length: count }, () => createServer());
  const ports = [];
  for (const probe of probes) {
    await new Promise((done) => probe.listen(0, '127.0.0.1', done));
    ports.push(probe.address().port);
  }
  await Promise.all(probes.map((probe) => new Promise((done) => probe.close(done))));
  return ports;
}

/** Polls `check` until it resolves with a value; a rejection counts as no value. */
export async function until(what, check, timeoutMs = 60_000, pollMs = 10) {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    let failure;
    const found = await check().catch((error) => {
      failure = error;
    });
    if (found !== undefined) return found;
    if (performance.now() > deadlineMs) {
      throw new Error(`timed out after ${timeoutMs} ms: ${what}`, { cause: failure });
    }
    await new Promise((again) => setTimeout(again, pollMs));
  }
}
