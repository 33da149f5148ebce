/**
 * One call of a peer that came in: it greets, is judged, and then says things. What it says counts only as
 * said by the member it greeted as. Ended when it is silent at first, says something that cannot be read,
 * or when the same member opens another one.
 */
import type { Clock, Logger, Timer } from '@orch/component';
import type { MemberId, Message } from '../core/types.js';
import { decodeFrame, encodeFrame } from './frame.js';
import type { ChannelEvents, FrameChannel } from './frame-network.js';
import { type FromPeer, FromPeerCodec, type ToPeer, ToPeerCodec } from './generated/wire.js';
import { GREETING_TIMEOUT_MS, UNSENT_BYTES_MAX } from './limits.js';
import type { Greeting, GreetingAnswer } from './transport.js';
import { errorText } from './transport-error.js';
import type { TransportObserver } from './transport-observer.js';
import { messagesFromWire } from './wire-forms.js';
import { WireError } from './wire-reader.js';

export interface InboundParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: TransportObserver;
  readonly judge: (greeting: Greeting) => GreetingAnswer | Promise<GreetingAnswer>;
  readonly welcomed: (peer: MemberId) => void;
  readonly received: (from: MemberId, messages: readonly Message[], byteCount: number) => void;
  /** `peer`: whom it greeted as, if it came to that. */
  readonly closed: (peer: MemberId | undefined) => void;
}

export class InboundExchange implements ChannelEvents {
  #peer: MemberId | undefined;
  #isWelcome = false;
  #isClosed = false;
  #unsentBytes = 0;
  readonly #timer: Timer;

  constructor(
    private readonly channel: FrameChannel,
    private readonly parts: InboundParts,
  ) {
    this.#timer = parts.clock.setTimer(GREETING_TIMEOUT_MS, () =>
      this.refuse('no greeting came in time'),
    );
  }

  /** For a peer that cannot be called: over its own call. False when it takes no more now. */
  send(messages: readonly Message[]): boolean {
    if (!this.#isWelcome || this.#isClosed || this.#unsentBytes > UNSENT_BYTES_MAX) return false;
    this.#write({ messages });
    return true;
  }

  /** Called by the channel. */
  closed(reason: string): void {
    this.parts.logger.debug({ peer: this.#peer, reason }, 'a call of a peer ended');
    this.#ended();
  }

  /** Ends it; what was said before still goes out. */
  close(): void {
    if (this.#isClosed) return;
    this.#ended();
    this.channel.end();
  }

  #write(body: FromPeer): void {
    const frame = encodeFrame(FromPeerCodec, body);
    this.#unsentBytes += frame.length;
    this.channel.write(frame, () => {
      this.#unsentBytes -= frame.length;
    });
  }

  /** Called by the channel. */
  frame(frame: Buffer): void {
    if (this.#isClosed) return;
    let body: ToPeer;
    try {
      body = decodeFrame(ToPeerCodec, frame);
      this.#check(body);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.parts.observer.damaged(this.#peer ?? '');
      this.parts.logger.warn(
        { peer: this.#peer, error: error.message },
        'a peer said what cannot be read, its call is ended',
      );
      this.refuse(error.message);
      return;
    }
    if (body.greeting) void this.#greeted(body.greeting);
    if (body.ping) this.#write({ messages: [], pong: body.ping });
    if (body.messages.length > 0 && this.#peer !== undefined) {
      this.parts.received(this.#peer, messagesFromWire(body.messages), frame.length);
    }
  }

  #check({ greeting }: ToPeer): void {
    if (greeting && this.#peer !== undefined) throw new WireError('a second greeting on one call');
    if (!greeting && !this.#isWelcome) throw new WireError('no greeting first');
  }

  async #greeted(greeting: Greeting): Promise<void> {
    this.#peer = greeting.memberId;
    this.channel.pause();
    let answer: GreetingAnswer;
    try {
      answer = await this.parts.judge(greeting);
    } catch (error) {
      this.refuse(`the greeting could not be judged: ${errorText(error)}`);
      return;
    }
    if (this.#isClosed) return;
    this.#timer.cancel();
    this.#write({ answer, messages: [] });
    if (answer.kind !== 'welcome') {
      this.close();
      return;
    }
    this.#isWelcome = true;
    this.parts.welcomed(greeting.memberId);
    this.channel.resume();
  }

  /** Breaks it. */
  refuse(reason: string): void {
    if (this.#isClosed) return;
    this.#ended();
    this.channel.destroy(reason);
  }

  #ended(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#timer.cancel();
    this.parts.closed(this.#peer);
  }
}
