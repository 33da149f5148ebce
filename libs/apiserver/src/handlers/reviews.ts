/**
 * Kinds of which nothing is stored: what is sent is a question about users, and the answer is made of
 * what this server's authenticators and its authorizer say.
 */
import type { ApiObject } from '@orch/api';
import { badRequest, invalid } from '@orch/apimachinery';
import type { TokenReview } from '@orch/types/authentication/v1';
import type {
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  SubjectAccessReviewSpec,
} from '@orch/types/authorization/v1';
import type { Authenticator } from '../authentication/authenticator.js';
import type { User } from '../authentication/user.js';
import type { Authorizer, PermissionLister } from '../authorization/authorizer.js';
import { trackWrite } from '../registry/field-ownership.js';
import { requestContext } from '../registry/registry-parts.js';
import { objectStrategy } from '../registry/strategies.js';
import { decodeBody, expectedOf, toStoredShape } from '../request/decode-object.js';
import { bodyFormat } from '../request/media-types.js';
import { readBody } from '../request/read-body.js';
import type { RequestInfo } from '../request/request-info.js';
import { parseWriteOptions } from '../request/write-options.js';
import {
  type Call,
  fieldCheck,
  type Handler,
  managedContext,
  plainRepresentation,
  sendUnstored,
} from './call.js';

export interface ReviewParts {
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly permissions: PermissionLister;
}

/** Answers a question, which is in the stored shape. Throws StatusError. */
type Answer = (call: Call, question: ApiObject) => ApiObject | Promise<ApiObject>;

/** Creates of every virtual kind. */
export function reviewHandler(parts: ReviewParts): Handler {
  const answers: Readonly<Record<string, Answer>> = {
    TokenReview: (_call, question) => tokenAnswer(parts, question as TokenReview),
    SubjectAccessReview: (_call, question) => subjectAnswer(parts, question as SubjectAccessReview),
    LocalSubjectAccessReview: (call, question) =>
      localAnswer(parts, call, question as LocalSubjectAccessReview),
    SelfSubjectAccessReview: ({ user }, question) =>
      accessAnswer(parts, user, question as SelfSubjectAccessReview),
    SelfSubjectRulesReview: (call, question) =>
      rulesAnswer(parts, call, question as SelfSubjectRulesReview),
  };
  return async (call) => {
    const { served } = call;
    const answer = answers[served.kind];
    if (!answer) throw new Error(`nothing answers ${served.kind}`);
    plainRepresentation(call);
    const answered = await answer(call, await readQuestion(call));
    sendUnstored(call, 201, served, served.fromStored(answered));
  };
}

async function readQuestion(call: Call): Promise<ApiObject> {
  const { parts, served, exchange, query } = call;
  const format = bodyFormat(exchange.request.headers['content-type']);
  const body = await readBody(exchange);
  const context = managedContext(call, parseWriteOptions(query, 'CreateOptions'));
  const question = toStoredShape(
    served,
    decodeBody(body, format, expectedOf(served), fieldCheck(call)),
  );
  if (context.manager !== undefined) {
    trackWrite(served, question, undefined, {
      manager: context.manager,
      nowMs: parts.clock.nowMs(),
      resetFields: objectStrategy(served).resetFields,
      takesSent: true,
    });
  }
  const errors = served.definition.validate?.(question, requestContext(parts, context, served));
  // Clients know these refusals without the kind.
  if (errors && errors.length > 0) throw invalid({ group: served.group, kind: '' }, '', errors);
  return question;
}

async function tokenAnswer(
  { authenticator }: ReviewParts,
  question: TokenReview,
): Promise<TokenReview> {
  const { token = '', audiences = [] } = question.spec;
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  const wanted = audiences.length > 0 ? audiences : authenticator.apiAudiences;
  const identity = await authenticator.authenticateToken(token, wanted);
  if (!identity) {
    return { ...question, status: { user: {}, error: 'invalid bearer token' } };
  }
  const { name, uid, groups, extra } = identity.user;
  return {
    ...question,
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

function listsOf(extra: User['extra']): Record<string, string[]> {
  return Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]));
}

function subjectOf({ user, groups, uid, extra }: SubjectAccessReviewSpec): User {
  return { name: user ?? '', uid: uid ?? '', groups: groups ?? [], extra: extra ?? {} };
}

function subjectAnswer(parts: ReviewParts, question: SubjectAccessReview): SubjectAccessReview {
  return accessAnswer(parts, subjectOf(question.spec), question);
}

function localAnswer(
  parts: ReviewParts,
  { info }: Call,
  question: LocalSubjectAccessReview,
): LocalSubjectAccessReview {
  if (info.namespace !== (question.metadata?.namespace ?? '')) {
    throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${info.namespace}`);
  }
  return accessAnswer(parts, subjectOf(question.spec), question);
}

function accessAnswer<T extends Pick<SelfSubjectAccessReview, 'spec' | 'status'>>(
  { authorizer }: ReviewParts,
  user: User,
  question: T,
): T {
  const { allowed, reason } = authorizer({ user, info: askedInfo(question.spec) });
  return { ...question, status: { allowed, ...(reason !== '' && { reason }) } };
}

/** The request that is asked about. */
function askedInfo(spec: SelfSubjectAccessReview['spec']): RequestInfo {
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
    rest: [],
    watchPath: false,
  };
}

/** The answer repeats nothing of the question. */
function rulesAnswer(
  { permissions }: ReviewParts,
  { user }: Call,
  { spec }: SelfSubjectRulesReview,
): SelfSubjectRulesReview {
  const { namespace = '' } = spec;
  if (namespace === '') throw badRequest('no namespace on request');
  return { metadata: {}, spec: {}, status: { ...permissions(user, namespace) } };
}
