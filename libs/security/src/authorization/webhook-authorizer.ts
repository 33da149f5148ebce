/**
 * The mode `Webhook`: a server outside the cluster decides. Its decisions are remembered; if it
 * fails, the modes after it may still allow the request.
 */
import { type Clock, dialect } from '@orch/component';
import { cachedReviewLengthMax } from '../limits.js';
import {
  booleanIn,
  type PostReview,
  ReviewError,
  type ReviewVersion,
  reviewOf,
  statusOfReview,
  textIn,
} from '../webhooks/review.js';
import { ReviewCache } from '../webhooks/review-cache.js';
import type { Attributes } from './attributes.js';
import { AuthorizationError, type Authorizer, type Decision } from './authorizer.js';
import type { RuleLister } from './rules.js';

export interface WebhookAuthorizerOptions {
  readonly post: PostReview;
  readonly version: ReviewVersion;
  /** Time for which allowed reviews are remembered; 0: not at all. */
  readonly allowedMs: number;
  /** Time for which other reviews are remembered; 0: not at all. */
  readonly refusedMs: number;
  readonly clock: Clock;
}

const kind = 'SubjectAccessReview';

export function webhookAuthorizer(options: WebhookAuthorizerOptions): Authorizer {
  const { post, version, allowedMs, refusedMs, clock } = options;
  const cache = new ReviewCache<Decision>({
    clock,
    isAccepted: ({ verdict }) => verdict === 'allow',
    acceptedMs: allowedMs,
    rejectedMs: refusedMs,
  });
  const review = async (spec: object) => {
    const apiVersion = dialect().apiVersion('authorization', version);
    return decisionIn(await post(reviewOf(apiVersion, kind, spec)), apiVersion);
  };
  return async (attributes) => {
    const spec = specOf(attributes, version);
    const key = JSON.stringify(spec);
    try {
      if (key.length > cachedReviewLengthMax) return await review(spec);
      return await cache.get(key, () => review(spec));
    } catch (error) {
      if (error instanceof ReviewError) throw new AuthorizationError(error.message);
      throw error;
    }
  };
}

/** The rules of the webhook are not known. */
export const webhookRules: RuleLister = async () => ({
  resourceRules: [],
  nonResourceRules: [],
  incomplete: true,
  evaluationError: 'webhook authorizer does not support user rule resolution',
});

function specOf({ user, info }: Attributes, version: ReviewVersion): object {
  const { verb, path, group, version: apiVersion, namespace, resource, subresource, name } = info;
  const { name: userName, uid, groups, extra } = user;
  const about = { namespace, verb, group, version: apiVersion, resource, subresource, name };
  return {
    ...(info.isResource
      ? { resourceAttributes: withoutEmpty(about) }
      : { nonResourceAttributes: withoutEmpty({ path, verb }) }),
    ...withoutEmpty({ user: userName, uid }),
    ...(groups.length > 0 && { [version === 'v1' ? 'groups' : 'group']: groups }),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

function withoutEmpty(fields: Readonly<Record<string, string>>): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
}

/** Throws ReviewError, or AuthorizationError for a response that contradicts itself. */
function decisionIn(response: unknown, apiVersion: string): Decision {
  const status = statusOfReview(response, apiVersion, kind);
  const isAllowed = booleanIn(status, 'allowed');
  const isDenied = booleanIn(status, 'denied');
  const reason = textIn(status, 'reason');
  if (isAllowed && isDenied) {
    throw new AuthorizationError(
      'webhook subject access review returned both allow and deny response',
      true,
    );
  }
  if (isAllowed) return { verdict: 'allow', reason };
  return { verdict: isDenied ? 'deny' : 'no opinion', reason };
}
