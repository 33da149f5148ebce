/** Posts image reviews to the server of a kubeconfig. */
import { type ConnectionConfig, retry } from '@orch/component';
import {
  authorizationOf,
  type ConnectionPool,
  connectionPoolOf,
  isSuccess,
  post,
  ResponseSizeError,
} from '@orch/security';
import type { ImageReview } from '@orch/types/imagepolicy/v1alpha1';
import { imageReviewAttemptsMax, imageReviewBytesMax, imageReviewTimeoutMs } from '../../limits.js';

/** The review failed; the message may be shown to clients. */
export class ImageReviewError extends Error {
  override readonly name = 'ImageReviewError';
  constructor(
    message: string,
    readonly isRetryable: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export interface ImageReviewClientOptions {
  readonly connection: ConnectionConfig;
  readonly retryBackoffMs: number;
  readonly random: () => number;
}

export class ImageReviewClient {
  private readonly pool: ConnectionPool;
  private readonly url: URL;

  constructor(private readonly options: ImageReviewClientOptions) {
    this.pool = connectionPoolOf(options.connection, 'image policy webhook');
    this.url = new URL(options.connection.server);
  }

  /** Returns the response body. Throws ImageReviewError; after `timeoutMs` at the latest. */
  async review(review: ImageReview, timeoutMs: number): Promise<unknown> {
    const { retryBackoffMs, random } = this.options;
    const signal = AbortSignal.timeout(Math.ceil(timeoutMs));
    const body = JSON.stringify(review);
    try {
      return await retry(() => this.post(body, signal), {
        initialMs: retryBackoffMs,
        maxMs: timeoutMs,
        factor: 1.5,
        jitter: 0.2,
        random,
        attemptCountMax: imageReviewAttemptsMax,
        signal,
        isRetryable: (error) => !(error instanceof ImageReviewError) || error.isRetryable,
      });
    } catch (error) {
      if (error instanceof ImageReviewError) throw error;
      const cause = signal.aborted ? 'no response in time' : 'it cannot be reached';
      throw new ImageReviewError(`image policy webhook: ${cause}`, false, { cause: error });
    }
  }

  private async post(body: string, deadline: AbortSignal): Promise<unknown> {
    const { connection } = this.options;
    const authorization = await authorizationOf(connection);
    const response = await post({
      url: this.url,
      pool: this.pool,
      headers: { ...(authorization !== undefined && { authorization }) },
      body,
      signal: AbortSignal.any([deadline, AbortSignal.timeout(imageReviewTimeoutMs)]),
      responseBytesMax: imageReviewBytesMax,
    }).catch(failOnSize);
    const { statusCode, text } = response;
    if (!isSuccess(response)) {
      const isRetryable = statusCode === 429 || statusCode >= 500;
      throw new ImageReviewError(`Error contacting webhook: ${statusCode}`, isRetryable);
    }
    try {
      return JSON.parse(text);
    } catch (error) {
      throw new ImageReviewError('image policy webhook: the response is not JSON', false, {
        cause: error,
      });
    }
  }
}

function failOnSize(error: unknown): never {
  if (!(error instanceof ResponseSizeError)) throw error;
  throw new ImageReviewError(`image policy webhook: ${error.message}`, false, { cause: error });
}
