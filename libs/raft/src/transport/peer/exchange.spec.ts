/** A call ends when its pings are not acknowledged, or when the peer sends an invalid message. */

import { expect, it } from 'vitest';
import { asMemberId, asTerm, branded } from '../../core/brands.js';
import type { Message } from '../../core/messages.js';
import { ManualClock } from '../../testing/manual-clock.js';
import type { ChannelEvents } from '../frame-network.js';
import { type FromPeer, FromPeerCodec, type ToPeer, ToPeerCodec } from '../generated/wire.js';
import { pingIntervalMs, pingTimeoutMs } from '../limits.js';
import type { Greeting } from '../transport.js';
import { silentObserver } from '../transport-observer.js';
import { decodeFrame, encodeFrame } from '../wire/frame.js';
import { Exchange } from './exchange.js';
import { InboundExchange } from './inbound-exchange.js';

function greetingOf(memberId: string): Greeting {
  return {
    clusterId: 'c',
    memberId: asMemberId(memberId),
    storageId: `${memberId}-1`,
    protocolVersion: 1,
    fresh: false,
  };
}

/** Member `a` has called `b` and is welcome; what `b` says is the test's. */
function openCall() {
  const clock = new ManualClock();
  const pings: number[] = [];
  const ends: string[] = [];
  let events: ChannelEvents | undefined;
  const channel = {
    write(frame: Buffer, left: () => void) {
      const { ping } = decodeFrame(ToPeerCodec, frame);
      if (ping) pings.push(ping.id);
      left();
    },
    pause: () => undefined,
    resume: () => undefined,
    end: () => undefined,
    destroy: () => undefined,
  };
  new Exchange({
    peer: asMemberId('b'),
    peerUrl: 'https://b:1',
    greeting: greetingOf('a'),
    network: {
      open(_url, told) {
        events = told;
        return channel;
      },
    },
    clock,
    observer: silentObserver,
    answered: () => undefined,
    received: () => undefined,
    drained: () => undefined,
    roundTrip: () => undefined,
    closed: (reason) => ends.push(reason),
  });
  const says = (body: Partial<FromPeer>) =>
    events!.frame(encodeFrame(FromPeerCodec, { messages: [], ...body }));
  says({ answer: { kind: 'welcome', greeting: greetingOf('b') } });
  return { clock, pings, ends, says };
}

const wrongMessage = branded<Message>({
  ...{ kind: 'heartbeatRequest', from: 'b', to: 'a', term: 0, commitIndex: 0, context: 0 },
});

it('ends when the peer sends a message that no replica sends', () => {
  const { ends, says } = openCall();
  says({ messages: [wrongMessage] });
  expect(ends).toEqual(['a leader without a term']);
});

it('refuses a call that carries a message that no replica sends', async () => {
  const clock = new ManualClock();
  const ends: string[] = [];
  const received: Message[] = [];
  const inbound = new InboundExchange(
    {
      ...{ write: () => undefined, pause: () => undefined, resume: () => undefined },
      ...{ end: () => undefined, destroy: (reason) => ends.push(reason) },
    },
    {
      ...{ clock, observer: silentObserver, welcomed: () => undefined, closed: () => undefined },
      logger: { debug: () => undefined, warn: () => undefined } as never,
      judge: () => ({ kind: 'welcome', greeting: greetingOf('a') }),
      received: (_from, messages) => received.push(...messages),
    },
  );
  const takes = (body: ToPeer) => inbound.frame(encodeFrame(ToPeerCodec, body));
  takes({ greeting: greetingOf('b'), messages: [] });
  await clock.advance(1);
  takes({ messages: [branded<Message>({ ...wrongMessage, term: asTerm(1) })] });
  expect(received).toHaveLength(1);
  takes({ messages: [wrongMessage] });
  expect(received).toHaveLength(1);
  expect(ends).toEqual(['a leader without a term']);
});

it('continues while pings are acknowledged', async () => {
  const { clock, pings, ends, says } = openCall();
  for (let round = 1; round <= 3; round += 1) {
    expect(pings).toHaveLength(round);
    says({ pong: { id: pings.at(-1)! } });
    await clock.advance(pingIntervalMs);
  }
  expect(ends).toEqual([]);
});

it('ends when a ping is not acknowledged, also if other frames arrived after it', async () => {
  const { clock, pings, ends, says } = openCall();
  await clock.advance(pingTimeoutMs / 2);
  // A late response to an earlier ping.
  says({ pong: { id: pings[0]! - 1 } });
  await clock.advance(pingTimeoutMs);
  expect(pings).toHaveLength(2);
  expect(ends).toEqual([]);
  await clock.advance(pingTimeoutMs);
  expect(ends).toEqual(['the peer did not respond to a ping in time']);
});
