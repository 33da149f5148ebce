/**
 * One try at being connected to a peer: the call, the greeting, then frames until it breaks. `closed` is
 * told exactly once, with the reason. Nothing is tried again here.
 */
import type { LoopClock, Timer } from '@orch/component';
import type { MemberId, Message } from '../core/types.js';
import { decodeFrame, encodeFrame } from './frame.js';
import type { FrameChannel, FrameNetwork } from './frame-network.js';
import { FromPeerCodec, ToPeerCodec } from './generated/wire.js';
import {
  GREETING_TIMEOUT_MS,
  LINK_BYTES_PER_SECOND_MIN,
  PING_INTERVAL_MS,
  PING_TIMEOUT_MS,
} from './limits.js';
import type { Greeting, GreetingAnswer } from './transport.js';
import type { TransportObserver } from './transport-observer.js';
import { messagesFromWire } from './wire-forms.js';
import { WireError } from './wire-reader.js';

export interface ExchangeParts {
  readonly peer: MemberId;
  readonly peerUrl: string;
  readonly greeting: Greeting;
  readonly network: Pick<FrameNetwork, 'open'>;
  readonly clock: LoopClock;
  readonly observer: TransportObserver;
  /** The peer's answer, whichever it is. */
  readonly answered: (answer: GreetingAnswer) => void;
  readonly received: (messages: readonly Message[], byteCount: number) => void;
  /** Frames have left: there is room for more. */
  readonly drained: () => void;
  readonly roundTrip: (durationMs: number) => void;
  readonly closed: (reason: string) => void;
}

export class Exchange {
  readonly #channel: FrameChannel;
  #isOpen = false;
  #isClosed = false;
  #unsentBytes = 0;
  #timer: Timer | undefined;
  #pingId = 0;
  #pingedAtMs = 0;
  #heardAtMs = 0;

  /** Throws TransportError `BadAddress`. */
  constructor(private readonly parts: ExchangeParts) {
    this.#channel = parts.network.open(parts.peerUrl, {
      frame: (frame) => this.#take(frame),
      closed: (reason) => this.close(reason),
    });
    this.#timer = parts.clock.setTimer(GREETING_TIMEOUT_MS, () =>
      this.close('the peer did not answer the greeting in time'),
    );
    this.#write(encodeFrame(ToPeerCodec, { greeting: parts.greeting, messages: [] }));
  }

  /** Welcome, and not broken since. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Handed over and not yet on their way. */
  get unsentBytes(): number {
    return this.#unsentBytes;
  }

  send(messages: readonly Message[]): void {
    const frame = encodeFrame(ToPeerCodec, { messages });
    this.parts.observer.sent(this.parts.peer, messages.length, frame.length);
    this.#write(frame);
  }

  /** Breaks the call at once. `closed` is told before this returns. */
  close(reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#isOpen = false;
    this.#timer?.cancel();
    this.#channel.destroy(reason);
    this.parts.closed(reason);
  }

  #write(frame: Buffer): void {
    this.#unsentBytes += frame.length;
    this.#channel.write(frame, () => {
      this.#unsentBytes -= frame.length;
      if (!this.#isClosed) this.parts.drained();
    });
  }

  #take(frame: Buffer): void {
    if (this.#isClosed) return;
    this.#heardAtMs = this.parts.clock.monotonicMs();
    try {
      const { answer, pong, messages } = decodeFrame(FromPeerCodec, frame);
      if (answer) this.#answered(answer);
      if (pong?.id === this.#pingId) this.#ponged();
      if (messages.length > 0 && this.#isOpen) {
        this.parts.received(messagesFromWire(messages), frame.length);
      }
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.parts.observer.damaged(this.parts.peer);
      this.close(error.message);
    }
  }

  #answered(answer: GreetingAnswer): void {
    if (this.#isOpen) throw new WireError('a second answer to one greeting');
    const { peer, peerUrl, greeting } = this.parts;
    if (answer.kind !== 'welcome') {
      this.parts.answered(answer);
      this.close(`the peer refused the greeting: ${answer.kind}`);
      return;
    }
    const other = answer.greeting;
    if (other.memberId !== peer || other.clusterId !== greeting.clusterId) {
      this.close(
        `${peerUrl} is member ${other.memberId} of cluster ${other.clusterId}: another than the one looked for`,
      );
      return;
    }
    this.#isOpen = true;
    this.#timer?.cancel();
    this.parts.answered(answer);
    if (!this.#isClosed) this.#ping();
  }

  #ping(): void {
    const { clock } = this.parts;
    const waitMs = PING_TIMEOUT_MS + (this.#unsentBytes / LINK_BYTES_PER_SECOND_MIN) * 1_000;
    this.#pingId += 1;
    this.#pingedAtMs = clock.monotonicMs();
    this.#write(encodeFrame(ToPeerCodec, { messages: [], ping: { id: this.#pingId } }));
    // After a pause of this process its timers fire before what has come in meanwhile is read.
    this.#timer = clock.setTimer(waitMs, () => void clock.nextTurn().then(() => this.#missed()));
  }

  /** Whoever has said anything since gets another ping: the answer to this one may be lost. */
  #missed(): void {
    if (this.#isClosed) return;
    if (this.#heardAtMs >= this.#pingedAtMs) this.#ping();
    else this.close('the peer did not answer a ping in time');
  }

  #ponged(): void {
    const { clock, roundTrip } = this.parts;
    this.#timer?.cancel();
    this.#timer = clock.setTimer(PING_INTERVAL_MS, () => this.#ping());
    roundTrip(clock.monotonicMs() - this.#pingedAtMs);
  }
}
