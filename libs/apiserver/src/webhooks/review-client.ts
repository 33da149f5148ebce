/**
 * Requests to the webhooks that review tokens and access. A request is repeated while the webhook
 * is overloaded or fails, within one deadline. Redirects are not followed, because a review carries
 * a token.
 */
import { type ConnectionConfig, type Dial, errorCode, retry } from '@orch/component';
import {
  authorizationOf,
  ConnectionClosedError,
  type ConnectionPool,
  connectionPoolOf,
  failureMessage,
  isSuccess,
  post,
  ResponseSizeError,
  ReviewError,
} from '@orch/security';
import {
  reviewAttemptsMax,
  reviewPauseInitialMs,
  reviewPauseMaxMs,
  reviewResponseBytesMax,
  reviewsInFlightMax,
  reviewTimeoutMs,
} from '../limits.js';

export interface ReviewClientOptions {
  readonly connection: ConnectionConfig;
  /** Names the webhook in errors: `token webhook`. */
  readonly use: string;
  readonly random: () => number;
  /** Absent: connections are direct. */
  readonly dial?: Dial | undefined;
  /** For tests. */
  readonly timeoutMs?: number;
}

/** Another attempt may succeed. */
class RetryableReviewError extends ReviewError {}

export class ReviewClient {
  private readonly pool: ConnectionPool;
  private readonly url: URL;
  private inFlightCount = 0;

  /** Throws KubeconfigError for credentials that require a plug-in. */
  constructor(private readonly options: ReviewClientOptions) {
    this.pool = connectionPoolOf(options.connection, options.use, options.dial);
    this.url = new URL(options.connection.server);
    this.url.searchParams.set('timeout', `${reviewTimeoutMs / 1_000}s`);
  }

  /** Returns the response, parsed as JSON. Rejects with ReviewError. */
  async post(review: object): Promise<unknown> {
    const { use, random } = this.options;
    if (this.inFlightCount >= reviewsInFlightMax) {
      throw new ReviewError(`the ${use} has too many requests in flight`);
    }
    const signal = AbortSignal.timeout(this.timeoutMs);
    this.inFlightCount += 1;
    try {
      return await retry(() => this.attempt(JSON.stringify(review), signal), {
        initialMs: reviewPauseInitialMs,
        maxMs: reviewPauseMaxMs,
        factor: 1.5,
        jitter: 0.2,
        random,
        attemptCountMax: reviewAttemptsMax,
        signal,
        isRetryable: (error) => error instanceof RetryableReviewError,
      });
    } catch (error) {
      if (signal.aborted) {
        throw new ReviewError(`the ${use} did not respond within ${this.timeoutMs} ms`);
      }
      throw error;
    } finally {
      this.inFlightCount -= 1;
    }
  }

  close(): void {
    this.pool.close();
  }

  private get timeoutMs(): number {
    return this.options.timeoutMs ?? reviewTimeoutMs;
  }

  private async attempt(body: string, signal: AbortSignal): Promise<unknown> {
    const { connection, use } = this.options;
    try {
      const authorization = await authorizationOf(connection);
      const response = await post({
        url: this.url,
        pool: this.pool,
        headers: { ...(authorization !== undefined && { authorization }) },
        body,
        signal,
        responseBytesMax: reviewResponseBytesMax,
      });
      if (isSuccess(response)) return parsed(response.text);
      const { statusCode } = response;
      const isRetryable = statusCode === tooManyRequests || statusCode >= 500;
      const Failure = isRetryable ? RetryableReviewError : ReviewError;
      throw new Failure(failureMessage(response));
    } catch (error) {
      if (error instanceof ReviewError) throw error;
      if (error instanceof ResponseSizeError) {
        throw new ReviewError(`the ${use}: ${error.message}`, { cause: error });
      }
      const code = errorCode(error) ?? 'unknown error';
      const Failure = error instanceof ConnectionClosedError ? RetryableReviewError : ReviewError;
      throw new Failure(`cannot reach the ${use}: ${code}`, { cause: error });
    }
  }
}

const tooManyRequests = 429;

/** The error of the parser is left out, because it contains a part of the response. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ReviewError("couldn't get version/kind; json parse error: not JSON");
  }
}
