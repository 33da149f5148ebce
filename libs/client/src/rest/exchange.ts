/**
 * One request whose complete response is collected in memory. Handles the events of the connection
 * itself, because a body stream for each small response costs more than the rest of a request.
 */
import type { Dispatcher } from 'undici';
import { limits } from '../limits.js';
import { BufferedResponse } from './response-body.js';
import type { RestResponse } from './rest-types.js';
import { TransportError } from './transport-error.js';

export class Exchange implements Dispatcher.DispatchHandler {
  /** Undefined until the headers have arrived. */
  statusCode: number | undefined;
  private controller: Dispatcher.DispatchController | undefined;
  private headers: RestResponse['headers'] = {};
  private readonly chunks: Buffer[] = [];
  private byteCount = 0;
  private isAborted = false;
  private reason: unknown;
  private resolve!: (response: BufferedResponse) => void;
  private reject!: (reason: unknown) => void;

  constructor(private readonly noteHeaders: () => void) {}

  /** Resolves with the response, whatever its status. Call it once. */
  send(
    dispatcher: Pick<Dispatcher, 'dispatch'>,
    request: Dispatcher.DispatchOptions,
  ): Promise<BufferedResponse> {
    return new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
      dispatcher.dispatch(request, this);
    });
  }

  /** Rejects the request; while it waits for a connection, as soon as that is open or fails. */
  abort(reason: unknown): void {
    if (this.isAborted) return;
    this.isAborted = true;
    this.reason = reason;
    this.controller?.abort(reason as Error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.isAborted) controller.abort(this.reason as Error);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: RestResponse['headers'],
  ): void {
    this.statusCode = statusCode;
    this.headers = headers;
    this.noteHeaders();
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.byteCount += chunk.byteLength;
    this.chunks.push(chunk);
    const { responseBytesMax } = limits;
    if (this.byteCount <= responseBytesMax) return;
    const message = `response is larger than ${responseBytesMax} bytes`;
    this.abort(new TransportError('response_too_large', message, true));
  }

  onResponseEnd(): void {
    const { statusCode = 0, headers, chunks, byteCount } = this;
    const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, byteCount);
    this.resolve(new BufferedResponse(statusCode, headers, body));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.reject(error);
  }
}
