/**
 * The `token` subresource of service accounts: signs a token, bound to a pod or secret if
 * requested.
 */
import type { ApiObject } from '@orch/api';
import {
  badRequest,
  codecFor,
  conflict,
  type FieldError,
  fieldError,
  formatTime,
  invalid,
  notFound,
} from '@orch/apimachinery';
import { dialect } from '@orch/component';
import { objectOf, type Registry } from '@orch/registry';
import type { ObjectIdentity, ServiceAccountTokens, TokenSubject } from '@orch/security';
import type { BoundObjectReference, TokenRequest } from '@orch/types/authentication/v1';
import type { Pod } from '@orch/types/core/v1';
import type { RequestContext } from '../http/request-context.js';
import { admitAction } from '../request/admit-action.js';
import { decodeBody, type Expected } from '../request/decode-object.js';
import { plainRepresentation } from '../request/representation.js';
import { readSentBody } from '../request/sent-body.js';
import { parseWriteOptions } from '../request/write-options.js';
import { sendUnstored } from '../response/send-object.js';
import type { Handler } from './handler.js';

const schemaType = 'authentication/v1.TokenRequest';
const kind = 'TokenRequest';
const lifetimeSecondsMin = 600;
const lifetimeSecondsMax = 2 ** 32;

export function tokenRequestHandler(registry: Registry, tokens: ServiceAccountTokens): Handler {
  return async (context, { served }) => {
    plainRepresentation(context);
    const request = await readTokenRequest(context);
    context.setOptions(parseWriteOptions(context.query, 'CreateOptions'));
    await admitAction(context, registry.admission, served, { object: request, schemaType });
    const { info } = context;
    const account = await read(registry, context, 'serviceaccounts', info.name);
    const { audiences = [], expirationSeconds = 0, boundObjectRef } = request.spec;
    const wanted = audiences.length > 0 ? audiences : [...tokens.apiAudiences];
    const errors = lifetimeErrors(expirationSeconds);
    if (errors.length > 0) {
      throw invalid({ group: dialect().group('authentication'), kind }, '', errors);
    }
    const subject: TokenSubject = {
      namespace: info.namespace,
      account: identityOf(account),
      ...(boundObjectRef && (await boundTo(registry, context, boundObjectRef))),
    };
    const { requestedSeconds } = tokens.lifetimeOf(subject, wanted, expirationSeconds);
    if (requestedSeconds < expirationSeconds) {
      context.warnings.push(
        `requested expiration of ${expirationSeconds} seconds shortened to ${requestedSeconds} seconds`,
      );
    }
    const { token, expiresMs } = await tokens.issue(subject, wanted, requestedSeconds);
    const issued: TokenRequest = {
      ...request,
      spec: { ...request.spec, audiences: wanted, expirationSeconds: requestedSeconds },
      status: { token, expirationTimestamp: formatTime(expiresMs) },
    };
    sendUnstored(context, 201, expectedRequest(), issued);
  };
}

function expectedRequest(): Expected<TokenRequest> {
  return {
    apiVersion: dialect().apiVersion('authentication', 'v1'),
    kind,
    groupHead: 'authentication',
    codec: codecFor<TokenRequest>(schemaType),
  };
}

async function readTokenRequest(context: RequestContext): Promise<TokenRequest & ApiObject> {
  const expected = expectedRequest();
  const { bytes, format } = await readSentBody(context);
  const request = decodeBody(bytes, format, expected);
  expected.codec.setDefaults(request);
  return { ...request, spec: request.spec ?? {} };
}

function lifetimeErrors(seconds: number): FieldError[] {
  const field = 'spec.expirationSeconds';
  if (seconds < lifetimeSecondsMin) {
    return [fieldError.invalid(field, seconds, 'may not specify a duration less than 10 minutes')];
  }
  if (seconds > lifetimeSecondsMax) {
    return [
      fieldError.invalid(field, seconds, 'may not specify a duration larger than 2^32 seconds'),
    ];
  }
  return [];
}

/**
 * Throws 400 for a kind that tokens cannot be bound to, 404 if the object is missing, 409 if its
 * uid differs.
 */
async function boundTo(
  registry: Registry,
  context: RequestContext,
  reference: BoundObjectReference,
): Promise<Pick<TokenSubject, 'pod' | 'secret'>> {
  const { apiVersion = '', kind: boundKind = '', name = '', uid = '' } = reference;
  const plural = { Pod: 'pods', Secret: 'secrets' }[boundKind];
  if (!plural || apiVersion.includes('/')) {
    const version = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
    throw badRequest(`cannot bind token to object of type ${version}, Kind=${boundKind}`);
  }
  const object = await read(registry, context, plural, name);
  if (boundKind === 'Pod' && (object as Pod).spec?.serviceAccountName !== context.info.name) {
    throw badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(context.info.name)} to pod running with different serviceaccount name.`,
    );
  }
  const identity = identityOf(object);
  if (uid !== '' && uid !== identity.uid) {
    throw conflict(
      { group: '', resource: boundKind },
      name,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  return boundKind === 'Pod' ? { pod: identity } : { secret: identity };
}

async function read(
  registry: Registry,
  { info, deadlineMs }: RequestContext,
  plural: string,
  name: string,
): Promise<ApiObject> {
  const key = { namespace: info.namespace, name };
  const entry = await registry.storeOf(plural).get(key, { kind: 'quorum' }, deadlineMs);
  if (!entry) throw notFound({ group: '', resource: plural }, name);
  return objectOf(entry);
}

function identityOf({ metadata }: ApiObject): ObjectIdentity {
  return { name: metadata?.name ?? '', uid: metadata?.uid ?? '' };
}
