/**
 * What carries frames between replicas. `GrpcNetwork` is the real one; the simulation has its own,
 * so that everything above (greetings, links, queues, identity, codecs) is the same code in both.
 */

/**
 * A call over which both sides send frames. Frames arrive whole and in order, or the call is
 * broken.
 */
export interface FrameChannel {
  /**
   * `left` is called when the frame is on its way: there is room for more. Not when the call breaks
   * first.
   */
  write(frame: Buffer, left: () => void): void;
  /** Delivers no frame until `resume`. */
  pause(): void;
  resume(): void;
  /** Frames written before are still sent. */
  end(): void;
  /** Breaks the call immediately; the other side may receive `reason`. */
  destroy(reason: string): void;
}

export interface ChannelEvents {
  frame(frame: Buffer): void;
  /** Ended by the other side, or broken. */
  closed(reason: string): void;
}

/** A snapshot on its way out. */
export interface FrameSink {
  /** Resolves when it is on its way, and when the call is broken: `reply` says which. */
  write(frame: Buffer): Promise<void>;
  /** No more frames come. */
  end(): void;
  /** The receiver's only frame. Rejects with TransportError when the call breaks first. */
  readonly reply: Promise<Buffer>;
  destroy(): void;
}

export type RequestKind = 'status' | 'operate';

/** Handlers of incoming calls. */
export interface FrameListener {
  accept(channel: FrameChannel): ChannelEvents;
  /** Resolves with the frame to reply with. */
  snapshot(frames: AsyncIterator<Buffer>): Promise<Buffer>;
  /** A rejection becomes a refusal at the asker. */
  answer(kind: RequestKind, frame: Buffer): Promise<Buffer>;
}

export interface FrameNetwork {
  /** Makes ready for outgoing calls. Rejects with TransportError `BadCertificate`. Idempotent. */
  prepare(): Promise<void>;
  /** Rejects with TransportError `BadAddress`. */
  listen(listener: FrameListener): Promise<void>;
  /** Throws TransportError `BadAddress`; `events` reports every other failure. */
  open(peerUrl: string, events: ChannelEvents): FrameChannel;
  /** On a connection that nothing else uses. */
  openSnapshot(peerUrl: string): FrameSink;
  /** Rejects with TransportError. */
  ask(peerUrl: string, kind: RequestKind, frame: Buffer, timeoutMs: number): Promise<Buffer>;
  /** Ends everything that is open. */
  stop(): Promise<void>;
}
