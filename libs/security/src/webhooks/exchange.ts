/**
 * One request on a connection, and its response. It ends in every case: with the response, with the
 * error of the connection, or with its signal.
 */
import type { EndSignal } from '@orch/component';
import type { Dispatcher } from 'undici';

export interface ExchangeRequest {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly signal: EndSignal;
  /** Size of the body of the response, as it is sent. */
  readonly responseBytesMax: number;
}

export interface ExchangeResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** The response is longer than its limit. */
export class ResponseSizeError extends Error {
  override readonly name = 'ResponseSizeError';

  constructor(bytesMax: number) {
    super(`the response is longer than ${bytesMax} bytes`);
  }
}

/** The server closed the connection before the end of its response. */
export class ConnectionClosedError extends Error {
  override readonly name = 'ConnectionClosedError';
  readonly code = 'ECONNRESET';

  constructor(
    /** Whether a part of the response had arrived. */
    readonly isAnswered: boolean,
    cause: Error,
  ) {
    super('the server closed the connection', { cause });
  }
}

const closedCodes: ReadonlySet<unknown> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/**
 * Sends the request. Rejects with ConnectionClosedError, ResponseSizeError, another error of the
 * connection, or as the signal aborts; the connection is not to be used again then.
 */
export function exchange(
  dispatcher: Pick<Dispatcher, 'dispatch'>,
  request: ExchangeRequest,
): Promise<ExchangeResponse> {
  const { url, method, headers, body, signal } = request;
  return new Promise((resolve, reject) => {
    const end = () => reject(reasonOf(signal));
    if (signal.aborted) return end();
    const { responseBytesMax } = request;
    const handler = new ResponseHandler(responseBytesMax, (error, response) => {
      signal.removeEventListener('abort', end);
      if (error) reject(error);
      else resolve(response as ExchangeResponse);
    });
    signal.addEventListener('abort', end, { once: true });
    const path = `${url.pathname}${url.search}`;
    dispatcher.dispatch({ path, method, headers, body }, handler);
  });
}

function reasonOf({ reason }: EndSignal): Error {
  return reason instanceof Error ? reason : new Error('the request was aborted');
}

class ResponseHandler implements Dispatcher.DispatchHandler {
  private readonly chunks: Buffer[] = [];
  private byteCount = 0;
  private statusCode = 0;
  private headers: ExchangeResponse['headers'] = {};

  constructor(
    private readonly bytesMax: number,
    private readonly ended: (error: Error | undefined, response?: ExchangeResponse) => void,
  ) {}

  /** Required of a handler. */
  onRequestStart(): void {}

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: ExchangeResponse['headers'],
  ): void {
    this.statusCode = statusCode;
    this.headers = headers;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.byteCount += chunk.length;
    if (this.byteCount <= this.bytesMax) this.chunks.push(chunk);
    else controller.abort(new ResponseSizeError(this.bytesMax));
  }

  onResponseEnd(): void {
    const { statusCode, headers, chunks } = this;
    const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
    this.ended(undefined, { statusCode, headers, body });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const isClosed = closedCodes.has((error as NodeJS.ErrnoException).code);
    this.ended(isClosed ? new ConnectionClosedError(this.statusCode !== 0, error) : error);
  }
}
