/**
 * Bearer tokens that a webhook reviews. Its results are remembered, so that a token costs one
 * request to the webhook per period.
 */
import { type Clock, dialect } from '@orch/component';
import {
  booleanIn,
  objectIn,
  type PostReview,
  ReviewError,
  type ReviewVersion,
  reviewOf,
  statusOfReview,
  textIn,
  textsIn,
} from '../webhooks/review.js';
import { ReviewCache, type ReviewCacheObserver } from '../webhooks/review-cache.js';
import { type TokenAuthenticator, TokenError, type TokenIdentity } from './token-authenticator.js';
import { authenticated, type User, unnamedUser } from './user.js';

export interface TokenWebhookOptions {
  readonly post: PostReview;
  readonly version: ReviewVersion;
  /** Time for which results are remembered; 0: not at all. */
  readonly cacheMs: number;
}

export interface TokenWebhookDependencies extends TokenWebhookOptions {
  readonly apiAudiences: readonly string[];
  readonly clock: Clock;
  readonly observer: ReviewCacheObserver;
}

const kind = 'TokenReview';

export function tokenWebhook(dependencies: TokenWebhookDependencies): TokenAuthenticator {
  const { post, version, cacheMs, apiAudiences, clock, observer } = dependencies;
  const cache = new ReviewCache<TokenIdentity | undefined>({
    clock,
    isAccepted: (identity) => identity !== undefined,
    acceptedMs: cacheMs,
    rejectedMs: cacheMs,
    observer,
  });
  const review = async (token: string, audiences: readonly string[]) => {
    const apiVersion = dialect().apiVersion('authentication', version);
    const response = await post(reviewOf(apiVersion, kind, { token, audiences }));
    return identityIn(statusOfReview(response, apiVersion, kind), audiences, apiAudiences);
  };
  return async (token, audiences) => {
    try {
      return await cache.get(JSON.stringify([token, audiences]), () => review(token, audiences));
    } catch (error) {
      if (!(error instanceof ReviewError)) throw error;
      // A webhook may repeat the token in its error.
      throw new TokenError(error.message.replaceAll(token, '<token>'));
    }
  };
}

type Status = ReturnType<typeof statusOfReview>;

/** Throws ReviewError if the status has an error or is not valid. */
function identityIn(
  status: Status,
  wanted: readonly string[],
  apiAudiences: readonly string[],
): TokenIdentity | undefined {
  const named = textsIn(status, 'audiences');
  const valid = named.length > 0 ? named : apiAudiences;
  const audiences = wanted.filter((audience) => valid.includes(audience));
  if (audiences.length === 0) return undefined;
  if (booleanIn(status, 'authenticated')) return { user: userIn(status), audiences };
  const error = textIn(status, 'error');
  if (error !== '') throw new ReviewError(error);
  return undefined;
}

function userIn(status: Status): User {
  const user = objectIn(status, 'user');
  const name = textIn(user, 'username');
  // Groups of a user without a name are not believed.
  if (name === '') return unnamedUser;
  const sent = objectIn(user, 'extra');
  const extra = Object.fromEntries(Object.keys(sent).map((key) => [key, textsIn(sent, key)]));
  return authenticated(name, textIn(user, 'uid'), textsIn(user, 'groups'), extra);
}
