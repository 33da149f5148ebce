/**
 * Reviews: kinds that are not stored. A client sends a question about a user; the response is what
 * the authenticators and authorizers of this server decide.
 */
import type { ApiObject } from '@orch/api';
import { badRequest, invalid } from '@orch/apimachinery';
import {
  type Admission,
  objectStrategy,
  type Registry,
  type ResourceStore,
  toStoredShape,
  trackWrite,
} from '@orch/registry';
import {
  type Attributes,
  AuthorizationError,
  type Authorizer,
  type RequestAttributes,
  type RuleLister,
  type TokenAuthenticator,
  TokenError,
  type User,
} from '@orch/security';
import type { TokenReview } from '@orch/types/authentication/v1';
import type {
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  SubjectAccessReviewSpec,
  SubjectAccessReviewStatus,
} from '@orch/types/authorization/v1';
import type { RequestContext } from '../http/request-context.js';
import { expectedOf } from '../request/decode-object.js';
import { plainRepresentation } from '../request/representation.js';
import { decodeSent, readSentBody } from '../request/sent-body.js';
import { parseWriteOptions } from '../request/write-options.js';
import { sendUnstored } from '../response/send-object.js';
import type { Handler } from './handler.js';

export interface ReviewDependencies {
  readonly registry: Registry;
  readonly authenticateToken: TokenAuthenticator;
  /** The audiences of the API itself. */
  readonly apiAudiences: readonly string[];
  readonly authorize: Authorizer;
  readonly listRules: RuleLister;
}

interface Reviewers {
  /** Decides a review in the stored shape and returns it with its status. Throws StatusError. */
  [kind: string]: { decide(context: RequestContext, review: ApiObject): Promise<ApiObject> };
}

/** A review of access, with the fields that all its kinds share. */
type AccessReview = ApiObject & Pick<SelfSubjectAccessReview, 'spec' | 'status'>;

/** Handles creates of every review kind. */
export function reviewHandler(dependencies: ReviewDependencies): Handler {
  const { authorize, listRules, registry } = dependencies;
  const reviewers: Reviewers = {
    TokenReview: {
      decide: (_context, review: TokenReview) => reviewToken(dependencies, review),
    },
    SubjectAccessReview: {
      decide: (_context, review: SubjectAccessReview) =>
        reviewAccess(authorize, subjectOf(review), review),
    },
    LocalSubjectAccessReview: {
      decide: (context, review: LocalSubjectAccessReview) =>
        reviewLocalAccess(authorize, context, review),
    },
    SelfSubjectAccessReview: {
      decide: ({ user }, review: SelfSubjectAccessReview) => reviewAccess(authorize, user, review),
    },
    SelfSubjectRulesReview: {
      decide: ({ user }, review: SelfSubjectRulesReview) => reviewRules(listRules, user, review),
    },
  };
  return async (context, store) => {
    const { served } = store;
    const reviewer = reviewers[served.kind];
    if (!reviewer) throw new Error(`no reviewer for ${served.kind}`);
    plainRepresentation(context);
    const { admission } = registry;
    const decided = await reviewer.decide(context, await readReview(context, store, admission));
    sendUnstored(context, 201, served, served.fromStored(decided));
  };
}

async function readReview(
  context: RequestContext,
  { served }: ResourceStore,
  admission: Admission,
): Promise<ApiObject> {
  const body = await readSentBody(context);
  const options = parseWriteOptions(context.query, 'CreateOptions');
  context.setOptions(options);
  context.trackOwnership(options.fieldManager);
  const review = toStoredShape(served, decodeSent(context, body, expectedOf(served)));
  if (context.fieldManager !== undefined) {
    trackWrite(served, review, undefined, {
      manager: context.fieldManager,
      nowMs: context.nowMs,
      resetFields: objectStrategy(served).resetFields,
      acceptsSentFields: true,
    });
  }
  const { namespace } = context.info;
  const operation = 'CREATE' as const;
  const request = { operation, served, namespace, name: '', subresource: '', context };
  const admitted = { ...request, object: review, old: undefined };
  await admission.mutate(admitted);
  const errors = served.definition.validate?.(review, context);
  // Clients expect these errors without the kind.
  if (errors && errors.length > 0) throw invalid({ group: served.group, kind: '' }, '', errors);
  await admission.validate(admitted);
  return review;
}

async function reviewToken(
  { authenticateToken, apiAudiences }: ReviewDependencies,
  review: TokenReview,
): Promise<TokenReview> {
  const { token = '', audiences = [] } = review.spec;
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  const wanted = audiences.length > 0 ? audiences : apiAudiences;
  const identity = await identityOrError(authenticateToken, token, wanted);
  if (typeof identity === 'string') {
    // Upstream leaves the other fields of the request as they are.
    const { user = {}, audiences: sent } = review.status ?? {};
    return { ...review, status: { user, ...(sent && { audiences: sent }), error: identity } };
  }
  const { name, uid, groups, extra } = identity.user;
  return {
    ...review,
    status: {
      authenticated: true,
      user: {
        username: name,
        ...(uid !== '' && { uid }),
        groups: [...groups],
        ...(Object.keys(extra).length > 0 && { extra: listsOf(extra) }),
      },
      audiences: [...identity.audiences],
    },
  };
}

const invalidToken = 'invalid bearer token';

/** The error if the token proves nothing. */
async function identityOrError(
  authenticate: TokenAuthenticator,
  token: string,
  audiences: readonly string[],
) {
  try {
    return (await authenticate(token, audiences)) ?? invalidToken;
  } catch (error) {
    if (error instanceof TokenError) return `[${invalidToken}, ${error.message}]`;
    throw error;
  }
}

function listsOf(extra: User['extra']): Record<string, string[]> {
  return Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]));
}

function subjectOf({ spec }: { readonly spec: SubjectAccessReviewSpec }): User {
  const { user = '', uid = '', groups = [], extra = {} } = spec;
  return { name: user, uid, groups, extra };
}

async function reviewLocalAccess(
  authorize: Authorizer,
  { info }: RequestContext,
  review: LocalSubjectAccessReview,
): Promise<ApiObject> {
  if (info.namespace !== (review.metadata?.namespace ?? '')) {
    throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${info.namespace}`);
  }
  return reviewAccess(authorize, subjectOf(review), review);
}

async function reviewAccess(
  authorize: Authorizer,
  user: User,
  review: AccessReview,
): Promise<AccessReview> {
  const status = await accessStatus(authorize, { user, info: attributesOf(review.spec) });
  return { ...review, status };
}

async function accessStatus(
  authorize: Authorizer,
  attributes: Attributes,
): Promise<SubjectAccessReviewStatus> {
  try {
    const { verdict, reason } = await authorize(attributes);
    return {
      allowed: verdict === 'allow',
      ...(verdict === 'deny' && { denied: true }),
      ...(reason !== '' && { reason }),
    };
  } catch (error) {
    if (!(error instanceof AuthorizationError)) throw error;
    const { message: evaluationError, isDenial } = error;
    return { allowed: false, ...(isDenial && { denied: true }), evaluationError };
  }
}

/** The request that the review is about. */
function attributesOf(spec: SelfSubjectAccessReview['spec']): RequestAttributes {
  const { resourceAttributes, nonResourceAttributes } = spec;
  const { verb = '', path = '' } = nonResourceAttributes ?? {};
  return {
    isResource: resourceAttributes !== undefined,
    verb: resourceAttributes?.verb ?? verb,
    path,
    group: resourceAttributes?.group ?? '',
    version: resourceAttributes?.version ?? '',
    namespace: resourceAttributes?.namespace ?? '',
    resource: resourceAttributes?.resource ?? '',
    subresource: resourceAttributes?.subresource ?? '',
    name: resourceAttributes?.name ?? '',
  };
}

/** The response repeats nothing of the request. */
async function reviewRules(
  listRules: RuleLister,
  user: User,
  { spec }: SelfSubjectRulesReview,
): Promise<SelfSubjectRulesReview> {
  const { namespace = '' } = spec;
  if (namespace === '') throw badRequest('no namespace on request');
  return { metadata: {}, spec: {}, status: { ...(await listRules(user, namespace)) } };
}
