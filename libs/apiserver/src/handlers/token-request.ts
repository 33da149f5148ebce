/** The `token` subresource of service accounts: signs a token, bound to a pod or secret when asked to. */
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
import type { BoundObjectReference, TokenRequest } from '@orch/types/authentication/v1';
import type { Pod } from '@orch/types/core/v1';
import type {
  ObjectIdentity,
  ServiceAccountTokens,
  TokenSubject,
} from '../authentication/service-account-tokens.js';
import { objectOf } from '../registry/entry-view.js';
import { timeLeftMs } from '../registry/registry-parts.js';
import type { Resource } from '../registry/resource.js';
import { decodeBody, type Expected } from '../request/decode-object.js';
import { bodyFormat } from '../request/media-types.js';
import { readBody } from '../request/read-body.js';
import { parseWriteOptions } from '../request/write-options.js';
import { type Call, type Handler, plainRepresentation, sendUnstored } from './call.js';

const schemaType = 'authentication/v1.TokenRequest';
const kind = 'TokenRequest';
const lifetimeSecondsMin = 600;
const lifetimeSecondsMax = 2 ** 32;

export function tokenRequestHandler(tokens: ServiceAccountTokens): Handler {
  return async (call) => {
    plainRepresentation(call);
    const request = await sentRequest(call);
    parseWriteOptions(call.query, 'CreateOptions');
    const { served, info } = call;
    const account = await read(call, served.resource, info.name);
    const { audiences = [], expirationSeconds = 0, boundObjectRef } = request.spec;
    const wanted = audiences.length > 0 ? audiences : [...tokens.apiAudiences];
    const errors = lifetimeErrors(expirationSeconds);
    if (errors.length > 0) {
      throw invalid({ group: dialect().group('authentication'), kind }, '', errors);
    }
    const subject: TokenSubject = {
      namespace: info.namespace,
      account: identityOf(account),
      ...(boundObjectRef && (await boundTo(call, boundObjectRef))),
    };
    const { token, expiresMs } = await tokens.issue(subject, wanted, expirationSeconds);
    const answer: TokenRequest = {
      ...request,
      spec: { ...request.spec, audiences: wanted },
      status: { token, expirationTimestamp: formatTime(expiresMs) },
    };
    sendUnstored(call, 201, expectedRequest(), answer);
  };
}

function expectedRequest(): Expected {
  return {
    apiVersion: dialect().apiVersion('authentication', 'v1'),
    kind,
    groupHead: 'authentication',
    codec: codecFor<ApiObject>(schemaType),
  };
}

async function sentRequest(call: Call): Promise<TokenRequest> {
  const expected = expectedRequest();
  const format = bodyFormat(call.exchange.request.headers['content-type']);
  const body = await readBody(call.exchange);
  const request = decodeBody(body, format, expected) as TokenRequest & ApiObject;
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

/** Throws 400 for what tokens cannot be bound to, 404 when it is missing, 409 when it is another. */
async function boundTo(
  call: Call,
  reference: BoundObjectReference,
): Promise<Pick<TokenSubject, 'pod' | 'secret'>> {
  const { apiVersion = '', kind: boundKind = '', name = '', uid = '' } = reference;
  const plural = { Pod: 'pods', Secret: 'secrets' }[boundKind];
  const resource = plural && !apiVersion.includes('/') && call.parts.table.stored('core', plural);
  if (!resource) {
    const version = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
    throw badRequest(`cannot bind token to object of type ${version}, Kind=${boundKind}`);
  }
  const object = await read(call, resource, name);
  if (boundKind === 'Pod' && (object as Pod).spec?.serviceAccountName !== call.info.name) {
    throw badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(call.info.name)} to pod running with different serviceaccount name.`,
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

async function read(call: Call, resource: Resource, name: string): Promise<ApiObject> {
  const { parts, info, deadlineMs } = call;
  const { entry } = await parts.store.get(resource.key(info.namespace, name), {
    consistency: { kind: 'quorum' },
    timeoutMs: timeLeftMs(parts, deadlineMs),
  });
  if (!entry) throw notFound({ group: '', resource: resource.definition.plural }, name);
  return objectOf(entry);
}

function identityOf({ metadata }: ApiObject): ObjectIdentity {
  return { name: metadata?.name ?? '', uid: metadata?.uid ?? '' };
}
