/** Which peers are admitted, and certificates that rotate or expire. */

import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type LoopClock, systemClock } from '@orch/component';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { asMemberId } from '../../core/brands.js';
import {
  eventually,
  pollingClock,
  shiftedClock,
  TestAuthority,
  TransportEnd,
} from './testing/transport-end.js';

const hourMs = 3_600_000;
let authority: TestAuthority;
let stranger: TestAuthority;
const ends: TransportEnd[] = [];

beforeAll(async () => {
  [authority, stranger] = [await TestAuthority.create(), await TestAuthority.create()];
});
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end.stop()));
});
afterAll(() => Promise.all([authority.remove(), stranger.remove()]));

async function start(id: string, clock: LoopClock = pollingClock): Promise<TransportEnd> {
  const end = new TransportEnd(asMemberId(id), authority.files(id), { clock });
  ends.push(end);
  return end.start();
}

function allLogged(end: TransportEnd, message: string): Record<string, unknown>[] {
  const lines = end.logLines.map((line) => JSON.parse(line) as Record<string, unknown>);
  return lines.filter((line) => line.msg === message);
}

function logged(end: TransportEnd, message: string): Record<string, unknown> | undefined {
  return allLogged(end, message)[0];
}

/** The fingerprint of the certificate that is shown to a new connection. */
async function shownBy(end: TransportEnd): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ port: end.transport.port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

describe('a certificate', () => {
  it('that is replaced in its files is used for new connections, and open ones continue', async () => {
    await authority.issue('a');
    await authority.issue('b');
    const [a, b] = [await start('a'), await start('b')];
    a.connectTo(b);
    await eventually(() => expect(a.open.has(asMemberId('b'))).toBe(true));
    const before = await shownBy(b);
    // Half of a rotation: the new certificate beside the old key.
    const { certificateFile, keyFile } = await authority.issue('next');
    await copyFile(certificateFile, b.certificates.certificateFile);
    const told = 'changed peer certificates cannot be used';
    await eventually(() => expect(logged(b, told)).toBeDefined());
    expect(logged(b, told)!.error).toContain('is not the key of');
    expect(await shownBy(b)).toBe(before);
    await copyFile(keyFile, b.certificates.keyFile);
    await eventually(async () => expect(await shownBy(b)).not.toBe(before));
    expect(logged(b, 'peer certificates replaced')).toBeDefined();
    expect(a.unreachable).toEqual([]);
    await b.restart();
    await eventually(() => expect(a.open.has(asMemberId('b'))).toBe(true));
  });

  it('that has run out is refused by both sides, who say so, until it is replaced', async () => {
    await authority.issue('a');
    await authority.issue('b', shiftedClock(-2 * hourMs));
    const [a, b] = [await start('a'), await start('b')];
    expect(logged(b, 'the peer certificate has expired')).toBeDefined();
    a.connectTo(b);
    b.connectTo(a);
    await eventually(() => expect(a.unreachable.length).toBeGreaterThan(0));
    expect(a.unreachable[0]![1]).toContain('certificate has expired');
    expect(logged(a, 'not connected to peer')!.reason).toContain('certificate has expired');
    const refused = 'refused a connection to the peer port';
    await eventually(() => expect(logged(a, refused)).toBeDefined());
    expect(logged(a, refused)!.reason).toContain('CERT_HAS_EXPIRED');
    expect(b.answers).toEqual([]);
    await authority.issue('b');
    await eventually(() =>
      expect([a.open.has(asMemberId('b')), b.open.has(asMemberId('a'))]).toEqual([true, true]),
    );
  });

  it('is warned about once, when a fifth of its validity is left', async () => {
    const { certificateFile } = await authority.issue('a');
    let ageMs = 0;
    const a = await start('a', { ...pollingClock, nowMs: () => systemClock.nowMs() + ageMs });
    const warned = () => allLogged(a, 'the peer certificate is about to expire');
    const renewed = () => allLogged(a, 'peer certificates replaced').length;
    const pem = await readFile(certificateFile);
    await writeFile(certificateFile, pem);
    await eventually(() => expect(renewed()).toBe(1));
    expect(warned()).toEqual([]);
    ageMs = 0.9 * hourMs;
    await eventually(() => expect(warned()).toHaveLength(1));
    expect(warned()[0]).toMatchObject({ level: 'warn', file: certificateFile });
    await writeFile(certificateFile, pem);
    await eventually(() => expect(renewed()).toBe(2));
    expect(warned()).toHaveLength(1);
    ageMs = 2 * hourMs;
    await eventually(() => expect(logged(a, 'the peer certificate has expired')).toBeDefined());
    expect(warned()).toHaveLength(1);
  });

  it('is not required of a peer that closes before the handshake: that is no refusal', async () => {
    await authority.issue('a');
    const a = await start('a');
    const socket = connect(a.transport.port, '127.0.0.1', () => socket.destroy());
    const ended = 'a connection to the peer port ended before it was set up';
    await eventually(() => expect(logged(a, ended)).toMatchObject({ level: 'debug' }));
    expect(logged(a, 'refused a connection to the peer port')).toBeUndefined();
  });

  it('of another authority, or none, is rejected', async () => {
    await authority.issue('a');
    await stranger.issue('s');
    const a = await start('a');
    const s = new TransportEnd(asMemberId('s'), {
      ...stranger.files('s'),
      authoritiesFile: authority.files('a').authoritiesFile,
    });
    ends.push(s);
    await s.start();
    s.connectTo(a);
    await eventually(() => expect(s.unreachable.length).toBeGreaterThan(0));
    a.connectTo(s);
    await eventually(() => expect(a.unreachable.length).toBeGreaterThan(0));
    expect([a.greetings, s.greetings]).toEqual([[], []]);
    const ended = new Promise((resolve) => {
      const socket = connectTls({
        port: a.transport.port,
        rejectUnauthorized: false,
        ALPNProtocols: ['h2'],
      });
      socket.on('error', resolve).on('close', resolve);
    });
    await ended;
    const refused = 'refused a connection to the peer port';
    await eventually(() => expect(logged(a, refused)).toBeDefined());
  });

  it('that is unreadable or invalid fails the start, and the error names the file', async () => {
    const files = authority.files('missing');
    const end = new TransportEnd(asMemberId('x'), files);
    ends.push(end);
    await expect(end.start()).rejects.toMatchObject({
      code: 'BadCertificate',
      message: expect.stringContaining(files.certificateFile),
    });
    await authority.issue('missing');
    await writeFile(files.keyFile, 'nonsense');
    const again = new TransportEnd(asMemberId('x'), files);
    ends.push(again);
    await expect(again.start()).rejects.toMatchObject({
      code: 'BadCertificate',
      message: expect.stringContaining(files.keyFile),
    });
  });
});
