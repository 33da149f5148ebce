/**
 * Authorization of requests to the server of a component. `DelegatedAuthorizer` delegates to the
 * API server: it authenticates by token review and authorizes by subject access review, and caches
 * both results for a short time. A user whom the connection proves needs no token review. A failed
 * review denies the request.
 */
import type { Clock } from '../clock.js';
import { dialect } from '../dialect/dialect.js';
import { errorMessage } from '../errors/thrown.js';
import { reviewCacheEntryCountMax } from '../limits.js';
import { ExpiringCache } from './expiring-cache.js';
import type { ServingRequest, ServingUser } from './serving-request.js';

export type ServingDecision =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'unauthenticated'; readonly reason: string }
  | { readonly kind: 'forbidden'; readonly reason: string };

export interface RequestAuthorizer {
  decide(request: ServingRequest): Promise<ServingDecision>;
}

/** Posts a review object to the API server and returns the object of the response. */
export type PostReview = (path: string, body: object) => Promise<unknown>;

export interface DelegatedAuthorizerOptions {
  readonly postReview: PostReview;
  readonly tokenTtlMs: number;
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
  readonly clock: Clock;
  /**
   * Whether requests without credentials are authorized as the anonymous user; otherwise they are
   * denied, as are those with credentials that are not valid.
   */
  readonly allowAnonymous: boolean;
}

/** A resource that is authorized instead of the path, such as `nodes/proxy` of the node agent. */
export interface ReviewedResource {
  readonly resource: string;
  readonly subresource?: string;
  readonly name?: string;
  readonly namespace?: string;
}

export class DelegatedAuthorizer implements RequestAuthorizer {
  private readonly users: ExpiringCache<ServingUser | undefined>;
  private readonly permissions: ExpiringCache<{ allowed: boolean; reason: string }>;

  constructor(private readonly options: DelegatedAuthorizerOptions) {
    this.users = new ExpiringCache(reviewCacheEntryCountMax, options.clock);
    this.permissions = new ExpiringCache(reviewCacheEntryCountMax, options.clock);
  }

  /** Decides about `request`; about `resource` instead of the path if given. */
  async decide(request: ServingRequest, resource?: ReviewedResource): Promise<ServingDecision> {
    try {
      const user = await this.authenticate(request);
      if (!user) return { kind: 'unauthenticated', reason: 'Unauthorized' };
      const permission = await this.permission(user, request, resource);
      if (permission.allowed) return { kind: 'allowed' };
      return { kind: 'forbidden', reason: permission.reason };
    } catch (error) {
      const reason = `cannot query the API server: ${errorMessage(error)}`;
      return { kind: 'forbidden', reason };
    }
  }

  private async authenticate(request: ServingRequest): Promise<ServingUser | undefined> {
    const { user, bearerToken: token } = request;
    if (user && user !== 'notValid') return user;
    if (token !== undefined) {
      return this.users.get(token, async () => ({
        value: await this.reviewToken(token),
        ttlMs: this.options.tokenTtlMs,
      }));
    }
    if (user || !this.options.allowAnonymous) return undefined;
    return { user: 'system:anonymous', groups: ['system:unauthenticated'] };
  }

  private async reviewToken(token: string): Promise<ServingUser | undefined> {
    const apiVersion = dialect().apiVersion('authentication', 'v1');
    const review = await this.options.postReview(`/apis/${apiVersion}/tokenreviews`, {
      apiVersion,
      kind: 'TokenReview',
      spec: { token },
    });
    const status = statusOf<{
      authenticated?: boolean;
      user?: { username?: string; uid?: string; groups?: string[]; extra?: ServingUser['extra'] };
    }>(review);
    if (!status.authenticated || !status.user?.username) return undefined;
    const { username, uid, groups, extra } = status.user;
    return { user: username, uid, groups: groups ?? [], extra };
  }

  private permission(
    user: ServingUser,
    request: ServingRequest,
    resource: ReviewedResource | undefined,
  ): Promise<{ allowed: boolean; reason: string }> {
    const { verb, path } = request;
    const apiVersion = dialect().apiVersion('authorization', 'v1');
    const spec = {
      ...user,
      ...(resource
        ? { resourceAttributes: { verb, version: 'v1', ...resource } }
        : { nonResourceAttributes: { verb, path } }),
    };
    return this.permissions.get(JSON.stringify(spec), async () => {
      const review = await this.options.postReview(`/apis/${apiVersion}/subjectaccessreviews`, {
        apiVersion,
        kind: 'SubjectAccessReview',
        spec,
      });
      const { allowed, reason } = statusOf<{ allowed?: boolean; reason?: string }>(review);
      const { authorizedTtlMs, unauthorizedTtlMs } = this.options;
      return {
        value: {
          allowed: allowed === true,
          reason: reason || `${user.user} may not ${verb} ${path}`,
        },
        ttlMs: allowed ? authorizedTtlMs : unauthorizedTtlMs,
      };
    });
  }
}

function statusOf<Status extends object>(review: unknown): Partial<Status> {
  if (typeof review !== 'object' || review === null || !('status' in review)) return {};
  return (review.status ?? {}) as Partial<Status>;
}
