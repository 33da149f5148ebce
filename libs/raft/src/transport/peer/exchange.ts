/**
 * One connection to a peer: the call, the greeting, then frames until it breaks. `closed` is called
 * exactly once, with the reason. Nothing is retried here.
 */

import type { LoopClock, Timer } from '@orch/component';
import { branded } from '../../core/brands.js';
import type { Message } from '../../core/messages.js';
import type { MemberId } from '../../core/types.js';
import type { FrameChannel, FrameNetwork } from '../frame-network.js';
import { FromPeerCodec, ToPeerCodec } from '../generated/wire.js';
import {
  greetingTimeoutMs,
  linkBytesPerSecondMin,
  pingIntervalMs,
  pingTimeoutMs,
} from '../limits.js';
import type { Greeting, GreetingAnswer } from '../transport.js';
import type { TransportObserver } from '../transport-observer.js';
import { decodeFrame, encodeFrame } from '../wire/frame.js';
import { WireError } from '../wire/wire-reader.js';
import { messagesFromWire } from './wire-forms.js';

export interface ExchangeDependencies {
  readonly peer: MemberId;
  readonly peerUrl: string;
  readonly greeting: Greeting;
  readonly network: Pick<FrameNetwork, 'open'>;
  readonly clock: LoopClock;
  readonly observer: TransportObserver;
  /** The peer's response, of any kind. */
  readonly answered: (answer: GreetingAnswer) => void;
  readonly received: (messages: readonly Message[], byteCount: number) => void;
  /** Frames have left: there is room for more. */
  readonly drained: () => void;
  readonly roundTrip: (durationMs: number) => void;
  readonly closed: (reason: string) => void;
}

export class Exchange {
  private readonly channel: FrameChannel;
  private opened = false;
  private isClosed = false;
  private pendingBytes = 0;
  private timer: Timer | undefined;
  private pingId = 0;
  private pingedAtMs = 0;
  private heardAtMs = 0;

  /** Throws TransportError `BadAddress`. */
  constructor(private readonly dependencies: ExchangeDependencies) {
    this.channel = dependencies.network.open(dependencies.peerUrl, {
      frame: (frame) => this.take(frame),
      closed: (reason) => this.close(reason),
    });
    this.timer = dependencies.clock.setTimer(greetingTimeoutMs, () =>
      this.close('the peer did not respond to the greeting in time'),
    );
    this.write(encodeFrame(ToPeerCodec, { greeting: dependencies.greeting, messages: [] }));
  }

  /** Welcome, and not broken since. */
  get isOpen(): boolean {
    return this.opened;
  }

  /** Handed over and not yet on their way. */
  get unsentBytes(): number {
    return this.pendingBytes;
  }

  send(messages: readonly Message[]): void {
    const frame = encodeFrame(ToPeerCodec, { messages });
    this.dependencies.observer.sent(this.dependencies.peer, messages.length, frame.length);
    this.write(frame);
  }

  /** Breaks the call immediately. Calls `closed` before this returns. */
  close(reason: string): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.opened = false;
    this.timer?.cancel();
    this.channel.destroy(reason);
    this.dependencies.closed(reason);
  }

  private write(frame: Buffer): void {
    this.pendingBytes += frame.length;
    this.channel.write(frame, () => {
      this.pendingBytes -= frame.length;
      if (!this.isClosed) this.dependencies.drained();
    });
  }

  private take(frame: Buffer): void {
    if (this.isClosed) return;
    this.heardAtMs = this.dependencies.clock.monotonicMs();
    try {
      const { answer, pong, messages } = decodeFrame(FromPeerCodec, frame);
      if (answer) this.answered(branded(answer));
      if (pong?.id === this.pingId) this.ponged();
      if (messages.length > 0 && this.opened) {
        this.dependencies.received(messagesFromWire(messages), frame.length);
      }
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.dependencies.observer.damaged(this.dependencies.peer);
      this.close(error.message);
    }
  }

  private answered(answer: GreetingAnswer): void {
    if (this.opened) throw new WireError('a second response to one greeting');
    const { peer, peerUrl, greeting } = this.dependencies;
    if (answer.kind !== 'welcome') {
      this.dependencies.answered(answer);
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
    this.opened = true;
    this.timer?.cancel();
    this.dependencies.answered(answer);
    if (!this.isClosed) this.ping();
  }

  private ping(): void {
    const { clock } = this.dependencies;
    const waitMs = pingTimeoutMs + (this.pendingBytes / linkBytesPerSecondMin) * 1_000;
    this.pingId += 1;
    this.pingedAtMs = clock.monotonicMs();
    this.write(encodeFrame(ToPeerCodec, { messages: [], ping: { id: this.pingId } }));
    // After a pause of this process its timers fire before it reads the frames that arrived
    // meanwhile.
    this.timer = clock.setTimer(waitMs, () => void clock.nextTurn().then(() => this.missed()));
  }

  /**
   * A peer that has sent any frame since gets another ping: the response to this one may be lost.
   */
  private missed(): void {
    if (this.isClosed) return;
    if (this.heardAtMs >= this.pingedAtMs) this.ping();
    else this.close('the peer did not respond to a ping in time');
  }

  private ponged(): void {
    const { clock, roundTrip } = this.dependencies;
    this.timer?.cancel();
    this.timer = clock.setTimer(pingIntervalMs, () => this.ping());
    roundTrip(clock.monotonicMs() - this.pingedAtMs);
  }
}
