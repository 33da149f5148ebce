/** One request on a stream of an HTTP/2 connection. Reports to its handler as undici does. */
import { type ClientHttp2Stream, constants } from 'node:http2';
import type { Dispatcher } from 'undici';
import { TransportError } from './transport-error.js';

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants;

export class Http2Call implements Dispatcher.DispatchController {
  aborted = false;
  reason: Error | null = null;
  private stream: ClientHttp2Stream | undefined;
  private hasHeaders = false;
  private hasEnded = false;
  private isDone = false;

  /** `onDone` is called once, before the handler learns the outcome. */
  constructor(
    private readonly handler: Dispatcher.DispatchHandler,
    private readonly onDone: (call: Http2Call) => void,
  ) {}

  get paused(): boolean {
    return this.stream?.isPaused() ?? false;
  }

  /** Returns whether the request is to be sent: its handler may abort it. */
  begin(): boolean {
    this.handler.onRequestStart?.(this, undefined);
    return !this.isDone;
  }

  /** Follows the stream on which the request is sent. */
  follow(stream: ClientHttp2Stream): void {
    this.stream = stream;
    stream.on('response', ({ ':status': status = 0, ...headers }) => {
      this.hasHeaders = true;
      if (!this.isDone) this.handler.onResponseStart?.(this, status, headers);
    });
    stream.on('data', (chunk: Buffer) => {
      if (!this.isDone) this.handler.onResponseData?.(this, chunk);
    });
    stream.on('end', () => {
      this.hasEnded = true;
    });
    // `close` follows, also without an error.
    stream.on('error', (error) => {
      this.reason ??= error;
    });
    stream.on('close', () => this.closed(stream.rstCode ?? NGHTTP2_NO_ERROR));
  }

  abort(reason: Error): void {
    this.aborted = true;
    this.stream?.close(NGHTTP2_CANCEL);
    this.fail(reason);
  }

  fail(reason: Error): void {
    if (this.isDone) return;
    this.isDone = true;
    this.reason = reason;
    this.onDone(this);
    this.handler.onResponseError?.(this, reason);
  }

  pause(): void {
    this.stream?.pause();
  }

  resume(): void {
    this.stream?.resume();
  }

  /** A stream that is reset or loses its connection ends too: the end alone proves nothing. */
  private closed(code: number): void {
    if (this.isDone) return;
    if (code === NGHTTP2_NO_ERROR && this.reason === null && this.hasHeaders && this.hasEnded) {
      this.isDone = true;
      this.onDone(this);
      this.handler.onResponseEnd?.(this, {});
      return;
    }
    const cause = this.reason ?? undefined;
    const message = `the request was closed: ${cause?.message ?? `HTTP/2 code ${code}`}`;
    // A server that refuses a stream, or is shutting down, has not begun with its request.
    const isSent = code !== NGHTTP2_REFUSED_STREAM;
    this.fail(new TransportError('connection_lost', message, isSent, { cause }));
  }
}
