/**
 * A call between two processes of the simulated network: two ends, two links, and a way to break.
 * The frames are those of the real codec: what a fault needs to know of them it reads as the
 * receiver would.
 */

import type { ChannelEvents, FrameChannel } from '../transport/frame-network.js';
import {
  FromPeerCodec,
  type Message,
  type ToPeer,
  ToPeerCodec,
} from '../transport/generated/wire.js';
import { decodeFrame, encodeFrame } from '../transport/wire/frame.js';
import { type Codec } from '../transport/wire/wire-reader.js';
import type { SimLink } from './sim-link.js';

/** What the ends of calls live in. */
export interface SimProcess {
  readonly isAlive: boolean;
  /** Broken when the process ends. */
  readonly ends: Set<{ destroy(reason: string): void }>;
  /** Runs now, or when the process continues after a pause. */
  run(work: () => void): void;
}

const otherClusterId = 'ffffffffffffffff';

/** One of the two ends: frames written here arrive at `other`. */
class End<Body extends { readonly messages: readonly Message[] }> implements FrameChannel {
  other!: { arrive(frame: Buffer): void; ended(reason: string): void };
  events: ChannelEvents | undefined;
  private isPaused = false;
  private isClosed = false;
  private waiting: (() => void)[] = [];

  constructor(
    private readonly process: SimProcess,
    private readonly link: SimLink,
    private readonly codec: Codec<Body>,
    /** Rewrites the first frame. */
    private readonly disguise: (body: Body) => Body,
  ) {
    process.ends.add(this);
  }

  write(frame: Buffer, left: () => void): void {
    if (this.isClosed || !this.process.isAlive) return;
    const body = decodeFrame(this.codec, frame);
    let sent = frame;
    const arrive = (arrived: Buffer) => this.other.arrive(arrived);
    const drained = () => this.process.run(left);
    if (body.messages.length === 0) {
      this.link.carry(encodeFrame(this.codec, this.disguise(body)), arrive, drained);
      return;
    }
    const damaged = withDamagedEntry(body.messages, this.link);
    if (damaged) sent = encodeFrame(this.codec, { ...body, messages: damaged });
    if (!this.link.draw(this.link.conditions.resetRate)) {
      this.link.carryLossy(sent, mayDouble(body.messages), arrive, drained);
      return;
    }
    this.link.counts.reset += 1;
    const messages = body.messages.slice(0, this.link.pick(body.messages.length + 1));
    if (messages.length > 0) {
      this.link.carry(encodeFrame(this.codec, { ...body, messages }), arrive, () => undefined);
    }
    this.break('connection reset');
  }

  get isAlive(): boolean {
    return this.process.isAlive;
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    const waiting = this.waiting;
    this.waiting = [];
    for (const work of waiting) work();
  }

  end(): void {
    this.destroy('the peer ended the call');
  }

  destroy(reason: string): void {
    if (this.isClosed) return;
    this.close();
    this.link.signal(() => this.other.ended(reason));
  }

  /** Both ends learn it: the other one by the link, this one immediately. */
  break(reason: string): void {
    this.destroy(reason);
    this.process.run(() => this.events?.closed(reason));
  }

  arrive(frame: Buffer): void {
    this.do(() => this.events?.frame(frame));
  }

  ended(reason: string): void {
    this.do(() => {
      this.close();
      this.events?.closed(reason);
    });
  }

  private close(): void {
    this.isClosed = true;
    this.process.ends.delete(this);
  }

  private do(work: () => void): void {
    if (this.isClosed) return;
    this.process.run(() => {
      if (this.isClosed) return;
      if (this.isPaused) this.waiting.push(work);
      else work();
    });
  }
}

export interface SimCallDependencies {
  readonly caller: SimProcess;
  readonly forward: SimLink;
  readonly back: SimLink;
  /** Undefined: no process listens there. */
  readonly callee: () =>
    | { process: SimProcess; accept(channel: FrameChannel): ChannelEvents }
    | undefined;
}

/**
 * The caller's end. The called process is whichever lives at the address when the first frame
 * arrives.
 */
export function openSimCall(parts: SimCallDependencies, events: ChannelEvents): FrameChannel {
  const { caller, forward, back } = parts;
  const near = new End(caller, forward, ToPeerCodec, (body) => disguised(body, forward));
  near.events = events;
  let far: End<ReturnType<typeof FromPeerCodec.read>> | undefined;
  const accepted = () => {
    if (far?.isAlive) return far;
    const callee = far ? undefined : parts.callee();
    if (!callee) {
      back.signal(() => near.ended('connection refused'));
      return undefined;
    }
    far = new End(callee.process, back, FromPeerCodec, (body) => body);
    far.other = near;
    far.events = callee.accept(far);
    return far;
  };
  near.other = {
    arrive: (frame) => accepted()?.arrive(frame),
    ended: (reason) => far?.ended(reason),
  };
  return near;
}

/**
 * A stream doubles nothing, and what a broken one held is not sent again. Consensus bears it all
 * the same, but not who forwards a command: the second of two copies may be refused by a leader
 * that took the first.
 */
function mayDouble(messages: readonly Message[]): boolean {
  return !messages.some(({ kind }) => kind === 'proposeRequest');
}

/** With one bit of one entry flipped, as by bad memory; undefined: there is none, or not now. */
function withDamagedEntry(messages: readonly Message[], link: SimLink): Message[] | undefined {
  if (!link.draw(link.conditions.entryDamageRate)) return undefined;
  const at = messages.findIndex((one) => one.kind === 'appendRequest' && one.entries.length > 0);
  const message = messages[at];
  if (message?.kind !== 'appendRequest') return undefined;
  link.counts.entriesDamaged += 1;
  const entries = [...message.entries];
  const place = link.pick(entries.length);
  const entry = entries[place]!;
  const data = Buffer.from(entry.data);
  const bit = link.pick(data.length * 8 + 32);
  if (bit < data.length * 8) {
    data[bit >>> 3]! ^= 1 << (bit & 7);
    entries[place] = { ...entry, data };
  } else entries[place] = { ...entry, checksum: (entry.checksum ^ (1 << (bit & 31))) >>> 0 };
  return messages.with(at, { ...message, entries });
}

function disguised(body: ToPeer, link: SimLink): ToPeer {
  if (!body.greeting || !link.draw(link.conditions.wrongClusterRate)) return body;
  link.counts.wrongCluster += 1;
  return { ...body, greeting: { ...body.greeting, clusterId: otherClusterId } };
}
