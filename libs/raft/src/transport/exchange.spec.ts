/** A call that breaks without a word is found out by its pings. */
import { expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.js';
import { Exchange } from './exchange.js';
import { decodeFrame, encodeFrame } from './frame.js';
import type { ChannelEvents } from './frame-network.js';
import { type FromPeer, FromPeerCodec, ToPeerCodec } from './generated/wire.js';
import { PING_INTERVAL_MS, PING_TIMEOUT_MS } from './limits.js';
import type { Greeting } from './transport.js';
import { silentObserver } from './transport-observer.js';

function greetingOf(memberId: string): Greeting {
  return { clusterId: 'c', memberId, storageId: `${memberId}-1`, protocolVersion: 1, fresh: false };
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
    peer: 'b',
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
  const says = (body: Omit<FromPeer, 'messages'>) =>
    events!.frame(encodeFrame(FromPeerCodec, { messages: [], ...body }));
  says({ answer: { kind: 'welcome', greeting: greetingOf('b') } });
  return { clock, pings, ends, says };
}

it('goes on as long as pings are answered', async () => {
  const { clock, pings, ends, says } = openCall();
  for (let round = 1; round <= 3; round += 1) {
    expect(pings).toHaveLength(round);
    says({ pong: { id: pings.at(-1)! } });
    await clock.advance(PING_INTERVAL_MS);
  }
  expect(ends).toEqual([]);
});

it('is ended when a ping is not answered, also if anything else was heard after it', async () => {
  const { clock, pings, ends, says } = openCall();
  await clock.advance(PING_TIMEOUT_MS / 2);
  // A late answer to a ping of before.
  says({ pong: { id: pings[0]! - 1 } });
  await clock.advance(PING_TIMEOUT_MS);
  expect(pings).toHaveLength(2);
  expect(ends).toEqual([]);
  await clock.advance(PING_TIMEOUT_MS);
  expect(ends).toEqual(['the peer did not answer a ping in time']);
});
