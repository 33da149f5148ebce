/** Who is let in, and certificates that change or run out. */
import { copyFile, writeFile } from 'node:fs/promises';
import { connect as connectTls } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually, shiftedClock, TestAuthority, TransportEnd } from './testing/transport-end.js';

const HOUR_MS = 3_600_000;
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

async function start(id: string): Promise<TransportEnd> {
  const end = new TransportEnd(id, authority.files(id));
  ends.push(end);
  return end.start();
}

function logged(end: TransportEnd, message: string): Record<string, unknown> | undefined {
  const lines = end.logLines.map((line) => JSON.parse(line) as Record<string, unknown>);
  return lines.find((line) => line.msg === message);
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
  it('that is replaced in its files is used for new connections, and open ones go on', async () => {
    await authority.issue('a');
    await authority.issue('b');
    const [a, b] = [await start('a'), await start('b')];
    a.connectTo(b);
    await eventually(() => expect(a.open.has('b')).toBe(true));
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
    await eventually(() => expect(a.open.has('b')).toBe(true));
  });

  it('that has run out is refused by both sides, who say so, until it is replaced', async () => {
    await authority.issue('a');
    await authority.issue('b', shiftedClock(-2 * HOUR_MS));
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
    await eventually(() => expect([a.open.has('b'), b.open.has('a')]).toEqual([true, true]));
  });

  it('of another authority, or none, is not let in', async () => {
    await authority.issue('a');
    await stranger.issue('s');
    const a = await start('a');
    const s = new TransportEnd('s', {
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
    const reasons = a.logLines
      .map((line) => JSON.parse(line) as { msg: string; reason?: string })
      .filter(({ msg }) => msg === 'refused a connection to the peer port')
      .map(({ reason }) => reason);
    await eventually(() => expect(reasons.length).toBeGreaterThan(0));
  });

  it('that cannot be read or is none is told at start, with the file', async () => {
    const files = authority.files('missing');
    const end = new TransportEnd('x', files);
    ends.push(end);
    await expect(end.start()).rejects.toMatchObject({
      code: 'BadCertificate',
      message: expect.stringContaining(files.certificateFile),
    });
    await authority.issue('missing');
    await writeFile(files.keyFile, 'nonsense');
    const again = new TransportEnd('x', files);
    ends.push(again);
    await expect(again.start()).rejects.toMatchObject({
      code: 'BadCertificate',
      message: expect.stringContaining(files.keyFile),
    });
  });
});
