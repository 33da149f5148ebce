/**
 * One incoming call of a peer: it greets, is admitted or refused, then sends messages. Messages
 * count only as sent by the member of the greeting. The call ends when no greeting arrives, when it
 * sends something unreadable, or when the same member opens another one.
 */

import type { Clock, Logger, Timer } from '@orch/component';
import { asMemberId, branded } from '../../core/brands.js';
import type { Message } from '../../core/messages.js';
import type { MemberId } from '../../core/types.js';
import type { ChannelEvents, FrameChannel } from '../frame-network.js';
import { type FromPeer, FromPeerCodec, type ToPeer, ToPeerCodec } from '../generated/wire.js';
import { greetingTimeoutMs, unsentBytesMax } from '../limits.js';
import type { Greeting, GreetingAnswer } from '../transport.js';
import { errorText } from '../transport-error.js';
import type { TransportObserver } from '../transport-observer.js';
import { decodeFrame, encodeFrame } from '../wire/frame.js';
import { WireError } from '../wire/wire-reader.js';
import { messagesFromWire } from './wire-forms.js';

export interface InboundExchangeDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: TransportObserver;
  readonly judge: (greeting: Greeting) => GreetingAnswer | Promise<GreetingAnswer>;
  readonly welcomed: (peer: MemberId) => void;
  readonly received: (from: MemberId, messages: readonly Message[], byteCount: number) => void;
  /** `peer`: the member of its greeting, if one arrived. */
  readonly closed: (peer: MemberId | undefined) => void;
}

export class InboundExchange implements ChannelEvents {
  private peer: MemberId | undefined;
  private isWelcome = false;
  private isClosed = false;
  private unsentBytes = 0;
  private readonly timer: Timer;

  constructor(
    private readonly channel: FrameChannel,
    private readonly dependencies: InboundExchangeDependencies,
  ) {
    this.timer = dependencies.clock.setTimer(greetingTimeoutMs, () =>
      this.refuse('no greeting arrived in time'),
    );
  }

  /** For a peer that cannot be called: over its own call. False when it takes no more now. */
  send(messages: readonly Message[]): boolean {
    if (!this.isWelcome || this.isClosed || this.unsentBytes > unsentBytesMax) return false;
    this.write({ messages });
    return true;
  }

  /** Called by the channel. */
  closed(reason: string): void {
    this.dependencies.logger.debug({ peer: this.peer, reason }, 'a call of a peer ended');
    this.ended();
  }

  /** Ends the call; frames written before are still sent. */
  close(): void {
    if (this.isClosed) return;
    this.ended();
    this.channel.end();
  }

  private write(body: FromPeer): void {
    const frame = encodeFrame(FromPeerCodec, body);
    this.unsentBytes += frame.length;
    this.channel.write(frame, () => {
      this.unsentBytes -= frame.length;
    });
  }

  /** Called by the channel. */
  frame(frame: Buffer): void {
    if (this.isClosed) return;
    let body: ToPeer;
    let messages: readonly Message[];
    try {
      body = decodeFrame(ToPeerCodec, frame);
      this.check(body);
      messages = messagesFromWire(body.messages);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.dependencies.observer.damaged(asMemberId(this.peer ?? ''));
      this.dependencies.logger.warn(
        { peer: this.peer, error: error.message },
        'a peer sent an unreadable frame, its call is closed',
      );
      this.refuse(error.message);
      return;
    }
    if (body.greeting) void this.greeted(branded(body.greeting));
    if (body.ping) this.write({ messages: [], pong: body.ping });
    if (messages.length > 0 && this.peer !== undefined) {
      this.dependencies.received(this.peer, messages, frame.length);
    }
  }

  private check({ greeting }: ToPeer): void {
    if (greeting && this.peer !== undefined) throw new WireError('a second greeting on one call');
    if (!greeting && !this.isWelcome) throw new WireError('no greeting first');
  }

  private async greeted(greeting: Greeting): Promise<void> {
    this.peer = greeting.memberId;
    this.channel.pause();
    let answer: GreetingAnswer;
    try {
      answer = await this.dependencies.judge(greeting);
    } catch (error) {
      this.refuse(`the greeting could not be checked: ${errorText(error)}`);
      return;
    }
    if (this.isClosed) return;
    this.timer.cancel();
    this.write({ answer, messages: [] });
    if (answer.kind !== 'welcome') {
      this.close();
      return;
    }
    this.isWelcome = true;
    this.dependencies.welcomed(greeting.memberId);
    this.channel.resume();
  }

  /** Breaks it. */
  refuse(reason: string): void {
    if (this.isClosed) return;
    this.ended();
    this.channel.destroy(reason);
  }

  private ended(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.timer.cancel();
    this.dependencies.closed(this.peer);
  }
}
