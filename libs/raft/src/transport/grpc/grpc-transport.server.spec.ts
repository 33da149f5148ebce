/** The real network: TLS on free ports of this machine. */

import { systemClock } from '@orch/component';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { asMemberId, asTerm, branded } from '../../core/brands.js';
import type { Message } from '../../core/messages.js';
import { ToPeerCodec } from '../generated/wire.js';
import { reconnectMaxMs } from '../limits.js';
import { encodeFrame } from '../wire/frame.js';
import { appendMessage, eventually, TestAuthority, TransportEnd } from './testing/transport-end.js';

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

async function start(id: string, files = authority.files('peer')): Promise<TransportEnd> {
  const end = new TransportEnd(asMemberId(id), files);
  ends.push(end);
  return end.start();
}

async function connectedPair(): Promise<readonly [TransportEnd, TransportEnd]> {
  const [a, b] = [await start('a'), await start('b')];
  a.connectTo(b);
  b.connectTo(a);
  await eventually(() =>
    expect([a.open.has(asMemberId('b')), b.open.has(asMemberId('a'))]).toEqual([true, true]),
  );
  return [a, b];
}

function heartbeat(from: string, to: string, context: number): Message {
  return {
    kind: 'heartbeatRequest',
    from: asMemberId(from),
    to: asMemberId(to),
    term: asTerm(1),
    commitIndex: 0 as never,
    context,
  };
}

function encoded(message: Message): Buffer {
  return encodeFrame(ToPeerCodec, { messages: [message] });
}

describe('two replicas', () => {
  it('greet each other, and what one says in a turn arrives in order in one frame', async () => {
    const [a, b] = await connectedPair();
    expect(b.greetings[0]).toEqual(a.greeting);
    expect(a.answers[0]).toEqual(['b', { kind: 'welcome', greeting: b.greeting }]);
    const said = Array.from({ length: 50 }, (_, at) => heartbeat('a', 'b', at));
    const framesBefore = a.sentFrames;
    for (const message of said) a.transport.send([message]);
    await eventually(() => expect(b.messages).toEqual(said));
    expect(a.sentFrames - framesBefore).toBe(1);
  });

  it('exchange every kind of content unchanged, also the largest', async () => {
    const [a, b] = await connectedPair();
    const big = appendMessage(asMemberId('a'), asMemberId('b'), 7, 4, 2 * 1024 * 1024 - 64);
    a.transport.send([big, heartbeat('a', 'b', 1)]);
    await eventually(() => expect(b.messages.length).toBe(2));
    // Compared as bytes: element by element it takes most of a minute.
    expect(encoded(b.messages[0]!).equals(encoded(big))).toBe(true);
    a.transport.send([appendMessage(asMemberId('a'), asMemberId('b'), 7, 1, 9 * 1024 * 1024)]);
    expect(a.drops).toEqual([['b', 1, 'tooLarge']]);
    a.transport.send([heartbeat('a', 'b', 2)]);
    await eventually(() => expect(b.messages.length).toBe(3));
  });

  it('measure the time of a round', async () => {
    const [a] = await connectedPair();
    await eventually(() => expect(a.roundTrips.length).toBeGreaterThan(0));
    expect(a.roundTrips[0]).toBeGreaterThan(0);
  });

  it('connect again as soon as a restarted one is back', async () => {
    // Pauses between tries that do not end within the test: only the greeting of the other one can
    // end them.
    const clock = {
      ...systemClock,
      setTimer: (delayMs: number, callback: () => void) =>
        systemClock.setTimer(delayMs <= reconnectMaxMs ? 600_000 : delayMs, callback),
    };
    const b = await start('b');
    const a = new TransportEnd(asMemberId('a'), authority.files('peer'), { clock });
    ends.push(a);
    await a.start();
    a.connectTo(b);
    await eventually(() => expect(a.open.has(asMemberId('b'))).toBe(true));
    await b.stop();
    await eventually(() => expect(a.unreachable.length).toBeGreaterThan(0));
    expect(a.open.has(asMemberId('b'))).toBe(false);
    await b.restart();
    b.connectTo(a);
    await eventually(() =>
      expect([a.open.has(asMemberId('b')), b.open.has(asMemberId('a'))]).toEqual([true, true]),
    );
    a.transport.send([heartbeat('a', 'b', 9)]);
    await eventually(() => expect(b.messages).toEqual([heartbeat('a', 'b', 9)]));
  });

  it('connect again by themselves, if the other one does not', async () => {
    const [a, b] = [await start('a'), await start('b')];
    a.connectTo(b);
    await eventually(() => expect(a.open.has(asMemberId('b'))).toBe(true));
    await b.restart();
    await eventually(() =>
      expect(a.open.has(asMemberId('b')) && b.greetings.length > 1).toBe(true),
    );
  });

  it('drop and count messages with a wrong sender or receiver', async () => {
    const [a, b] = await connectedPair();
    a.transport.send([heartbeat('x', 'b', 1), heartbeat('a', 'b', 2)]);
    await eventually(() => expect(b.messages).toEqual([heartbeat('a', 'b', 2)]));
    expect(b.drops).toEqual([['a', 1, 'misaddressed']]);
  });

  it('respond over the call of a peer that they cannot call', async () => {
    const [a, b] = [await start('a'), await start('b')];
    a.connectTo(b);
    await eventually(() => expect(a.open.has(asMemberId('b'))).toBe(true));
    b.transport.send([heartbeat('b', 'a', 3)]);
    await eventually(() => expect(a.messages).toEqual([heartbeat('b', 'a', 3)]));
    b.transport.send([heartbeat('b', 'nobody', 3)]);
    expect(b.drops).toEqual([['nobody', 1, 'unknownPeer']]);
  });
});

describe('a greeting', () => {
  it.each([
    { kind: 'wrongCluster', clusterId: 'other' },
    { kind: 'unknownMember', removed: true },
    { kind: 'unknownMember', removed: false },
    { kind: 'wrongStorage' },
  ] as const)('is refused with $kind', async (refusal) => {
    const [a, b] = [await start('a'), await start('b')];
    b.judge = async () => refusal;
    a.connectTo(b);
    await eventually(() => expect(a.answers[0]).toEqual(['b', refusal]));
    await eventually(() => expect(a.unreachable.length).toBeGreaterThan(0));
    expect(a.open.has(asMemberId('b'))).toBe(false);
    expect(a.unreachable[0]![1]).toContain(refusal.kind);
    a.transport.send([heartbeat('a', 'b', 1)]);
    // Tried again, and welcome once the other side has changed its mind.
    b.judge = () => ({ kind: 'welcome', greeting: b.greeting });
    await eventually(() => expect(a.open.has(asMemberId('b'))).toBe(true));
  });

  it('lead to no connection when another member responds', async () => {
    const [a, b] = [await start('a'), await start('b')];
    a.transport.setPeers([{ ...b.member, id: asMemberId('c') }]);
    await eventually(() => expect(a.unreachable.length).toBeGreaterThan(0));
    expect(a.unreachable[0]).toEqual(['c', expect.stringContaining('is member b')]);
    expect(a.answers).toEqual([]);
  });

  it('is requested again from a member that was removed', async () => {
    const [a, b] = await connectedPair();
    b.judge = () => ({ kind: 'unknownMember', removed: true });
    b.transport.setPeers([]);
    await eventually(() =>
      expect(a.answers.at(-1)).toEqual(['b', { kind: 'unknownMember', removed: true }]),
    );
  });
});

describe('requests', () => {
  it('return the status, also to a transport that has not started', async () => {
    const [a, b] = await connectedPair();
    const deadlineMs = performance.now() + 5_000;
    const expected = b.onStatusRequest();
    expect(await a.transport.requestStatus(asMemberId('b'), deadlineMs)).toEqual(expected);
    const joining = new TransportEnd(asMemberId('j'), authority.files('peer'));
    ends.push(joining);
    expect(await joining.transport.requestStatusAt(b.peerUrl, deadlineMs)).toEqual(expected);
    await expect(a.transport.requestStatus(asMemberId('z'), deadlineMs)).rejects.toMatchObject({
      code: 'UnknownPeer',
    });
    a.greeting = { ...a.greeting, clusterId: 'other' };
    await expect(a.transport.requestStatus(asMemberId('b'), deadlineMs)).rejects.toMatchObject({
      code: 'Refused',
    });
  });

  it('of operators go to the peer and return its response', async () => {
    const [a, b] = await connectedPair();
    const seen: unknown[] = [];
    b.operate = async (request, deadlineMs) => {
      seen.push(request);
      expect(deadlineMs).toBeGreaterThan(performance.now());
      return { kind: 'done', configuration: { voters: [b.member], learners: [a.member] } };
    };
    const deadlineMs = performance.now() + 5_000;
    const add = {
      kind: 'changeMembership',
      change: { kind: 'addLearner', member: a.member },
    } as const;
    expect(await a.transport.requestOperation(asMemberId('b'), add, deadlineMs)).toEqual({
      kind: 'done',
      configuration: { voters: [b.member], learners: [a.member] },
    });
    b.operate = async (request) => {
      seen.push(request);
      return { kind: 'failed', code: 'NotLeader', message: 'not here' };
    };
    const transfer = { kind: 'transferLeadership', to: undefined } as const;
    expect(await a.transport.requestOperation(asMemberId('b'), transfer, deadlineMs)).toEqual({
      kind: 'failed',
      code: 'NotLeader',
      message: 'not here',
    });
    expect(seen).toEqual([add, transfer]);
  });

  it('end at their deadline when the peer does not respond', async () => {
    const [a, b] = await connectedPair();
    b.operate = () => new Promise(() => undefined);
    const request = { kind: 'transferLeadership', to: 'a' } as const;
    await expect(
      a.transport.requestOperation(asMemberId('b'), branded(request), performance.now() + 100),
    ).rejects.toMatchObject({ code: 'DeadlineExceeded' });
  });
});

describe('a transport', () => {
  it('does not start on a taken address', async () => {
    const a = await start('a');
    const taken = new TransportEnd(asMemberId('b'), authority.files('peer'), {
      listenUrl: a.peerUrl,
    });
    ends.push(taken);
    await expect(taken.start()).rejects.toMatchObject({ code: 'BadAddress' });
  });

  it('reports an invalid peer address, and continues', async () => {
    const a = await start('a');
    a.transport.setPeers([{ id: asMemberId('b'), name: 'b', peerUrl: 'http://x', clientUrl: '' }]);
    await eventually(() => expect(a.unreachable[0]?.[1]).toContain('must begin with https'));
  });
});
