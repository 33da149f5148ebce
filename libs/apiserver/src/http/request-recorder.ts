/** Records the metrics of one request. */

/** The parts of a finished request that metrics count. */
export interface FinishedRequest {
  readonly response: { readonly statusCode: number };
  readonly bodyBytes: number;
  readonly aborted: boolean;
}

export interface RequestRecorder {
  finished(request: FinishedRequest, seconds: number): void;
  /** A long-running request: 1 when it starts, -1 when it ends. */
  longRunning(change: 1 | -1): void;
  /** The server ended the request to protect itself. */
  terminated(code: string): void;
}
