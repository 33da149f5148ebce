/**
 * Snapshots over the real network: whole or not at all, at the receiver's pace, beside everything
 * else.
 */

import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { asLogIndex, asMemberId, asTerm, branded } from '../../core/brands.js';
import type { SnapshotPoint } from '../../core/types.js';
import { snapshotChunkBytes } from '../../storage/checked-stream.js';
import { receiveWindowBytes } from '../limits.js';
import { appendMessage, eventually, TestAuthority, TransportEnd } from './testing/transport-end.js';

const mebibyte = 1024 * 1024;
let authority: TestAuthority;
const ends: TransportEnd[] = [];

beforeAll(async () => {
  authority = await TestAuthority.create();
  await authority.issue('peer');
});
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end.stop()));
});
afterAll(() => authority.remove());

async function pair(options = {}): Promise<readonly [TransportEnd, TransportEnd]> {
  const a = new TransportEnd(asMemberId('a'), authority.files('peer'), options);
  const b = new TransportEnd(asMemberId('b'), authority.files('peer'));
  ends.push(a, b);
  await Promise.all([a.start(), b.start()]);
  a.connectTo(b);
  await eventually(() => expect(a.open.has(asMemberId('b'))).toBe(true));
  return [a, b];
}

const member = { id: 'a', name: 'a', peerUrl: 'https://a:1', clientUrl: '' };
const point: SnapshotPoint = {
  index: asLogIndex(70),
  term: asTerm(3),
  checksum: 5,
  configuration: {
    voters: [branded(member)],
    learners: [],
    outgoing: [{ ...member, id: asMemberId('old') }],
  },
};

async function* pieces(count: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < count; at += 1) yield Buffer.alloc(snapshotChunkBytes, at);
}

describe('a snapshot', () => {
  it('arrives complete, with its point', async () => {
    const [a, b] = await pair();
    const seen: unknown[] = [];
    let bytes = 0;
    b.takeSnapshot = async (from, term, of, chunks) => {
      seen.push(from, term, of);
      let at = 0;
      for await (const chunk of chunks) {
        expect(chunk.equals(Buffer.alloc(snapshotChunkBytes, at))).toBe(true);
        at += 1;
        bytes += chunk.length;
      }
    };
    await a.transport.sendSnapshot(asMemberId('b'), asTerm(9), point, pieces(12));
    expect(seen).toEqual(['a', 9, point]);
    expect([bytes, a.snapshotBytesSent, b.snapshotBytesReceived]).toEqual([
      3 * mebibyte,
      3 * mebibyte,
      3 * mebibyte,
    ]);
  });

  it('goes no further than its receiver reads, and nothing else waits for it', async () => {
    const [a, b] = await pair({ snapshotBytesPerSecond: 1024 * mebibyte });
    let goOn: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    let received = 0;
    b.takeSnapshot = async (_from, _term, _of, chunks) => {
      await held;
      for await (const chunk of chunks) received += chunk.length;
    };
    const sent = a.transport.sendSnapshot(asMemberId('b'), asTerm(9), point, pieces(200));
    await eventually(() => expect(a.snapshotBytesSent).toBeGreaterThan(receiveWindowBytes / 2));
    for (let index = 1; index <= 100; index += 1) {
      a.transport.send([appendMessage(asMemberId('a'), asMemberId('b'), index, 10, 1_024)]);
    }
    await eventually(() => expect(b.messages.length).toBe(100));
    const indexes = b.messages.map((said) => said.kind === 'appendRequest' && said.previous.index);
    expect(indexes).toEqual(Array.from({ length: 100 }, (_, at) => at));
    expect(received).toBe(0);
    // The windows of HTTP/2, what gRPC reads ahead and what sockets hold; far from all of it.
    expect(a.snapshotBytesSent).toBeLessThan(30 * mebibyte);
    goOn();
    await sent;
    expect(received).toBe(50 * mebibyte);
  });

  it('keeps to its rate', async () => {
    const [a] = await pair({ snapshotBytesPerSecond: 4 * mebibyte });
    const startMs = performance.now();
    await a.transport.sendSnapshot(asMemberId('b'), asTerm(9), point, pieces(8));
    // The last piece is not waited for.
    expect(performance.now() - startMs).toBeGreaterThan(400);
  });

  it('that is refused, or whose sender is, fails at the sender with the reason', async () => {
    const [a, b] = await pair();
    b.takeSnapshot = () => Promise.reject(new Error('the disk is full'));
    await expect(
      a.transport.sendSnapshot(asMemberId('b'), asTerm(9), point, pieces(40)),
    ).rejects.toMatchObject({
      code: 'Refused',
      message: 'the disk is full',
    });
    b.takeSnapshot = () => Promise.resolve();
    await expect(
      a.transport.sendSnapshot(asMemberId('b'), asTerm(9), point, pieces(3)),
    ).rejects.toMatchObject({
      message: 'it was not read to its end',
    });
    b.judge = () => ({ kind: 'wrongStorage' });
    await expect(
      a.transport.sendSnapshot(asMemberId('b'), asTerm(9), point, pieces(3)),
    ).rejects.toMatchObject({
      message: 'the sender is refused: wrongStorage',
    });
  });

  it('whose source fails is not taken for whole', async () => {
    const [a, b] = await pair();
    const outcome = vi.fn();
    b.takeSnapshot = async (_from, _term, _of, chunks) => {
      try {
        for await (const _ of chunks);
        outcome('whole');
      } catch (error) {
        outcome('broken');
        throw error;
      }
    };
    async function* failing(): AsyncGenerator<Buffer> {
      yield* pieces(2);
      throw new Error('read error');
    }
    await expect(
      a.transport.sendSnapshot(asMemberId('b'), asTerm(9), point, failing()),
    ).rejects.toThrow('read error');
    await eventually(() => expect(outcome.mock.calls).toEqual([['broken']]));
  });

  it('ends when either side stops', async () => {
    const [a, b] = await pair({ snapshotBytesPerSecond: mebibyte });
    const broken = vi.fn();
    b.takeSnapshot = async (_from, _term, _of, chunks) => {
      for await (const _ of chunks);
    };
    const sent = a.transport
      .sendSnapshot(asMemberId('b'), asTerm(9), point, pieces(100))
      .catch(broken);
    await eventually(() => expect(b.snapshotBytesReceived).toBeGreaterThan(0));
    await b.stop();
    await sent;
    expect(broken).toHaveBeenCalledTimes(1);
  });
});
