/** AdmissionReview: encodes the request to a webhook and decodes its response. */
import {
  codecFor,
  internalError,
  isJsonObject,
  type Json,
  type JsonObject,
  SchemaError,
} from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { AdmissionRequest } from '@orch/registry';
import { type HttpPostResponse, WebhookError } from '@orch/security';
import type { AdmissionResponse, AdmissionReview } from '@orch/types/admission/v1';
import type { ReviewVersion } from './hook.js';
import { type Candidate, isNamespaces } from './hook-set.js';
import type { ReviewedRequest } from './reviewed-request.js';

const kind = 'AdmissionReview';

/** The JSON text to send. */
export async function reviewText(
  reviewed: ReviewedRequest,
  { target }: Candidate,
  version: ReviewVersion,
  uid: string,
): Promise<string> {
  const { request } = reviewed;
  const { served, subresource, context } = request;
  const { object, oldObject } = await reviewed.objectsIn(target);
  const name = requestName(request);
  const namespace = requestNamespace(request);
  const head = JSON.stringify({
    uid,
    kind: reviewed.kindIn(target),
    resource: resourceOf(target),
    ...(subresource !== '' && { subResource: subresource }),
    requestKind: reviewed.kindIn(served),
    requestResource: resourceOf(served),
    ...(subresource !== '' && { requestSubResource: subresource }),
    ...(name !== '' && { name }),
    ...(namespace !== '' && { namespace }),
    operation: request.operation,
    userInfo: userInfo(context.user),
  });
  const end = JSON.stringify({ dryRun: isDryRun(request), options: optionsOf(request) });
  const body = `${head.slice(0, -1)},"object":${object},"oldObject":${oldObject},${end.slice(1)}`;
  return `{"kind":"${kind}","apiVersion":"${apiVersionOf(version)}","request":${body}}`;
}

export function isDryRun({ context }: AdmissionRequest): boolean {
  return context.isSentDryRun ?? context.dryRun;
}

/** The namespace that selectors apply to; that of a namespace is the namespace itself. */
export function requestNamespace(request: AdmissionRequest): string {
  return isNamespaces(request.served) ? requestName(request) : request.namespace;
}

function requestName({ requestedName, name, operation }: AdmissionRequest): string {
  if (operation === 'DELETE') return requestedName ?? name;
  return requestedName || name;
}

function resourceOf({ group, version, definition }: Candidate['target']) {
  return { group, version, resource: definition.plural };
}

function userInfo({ name, uid, groups, extra }: AdmissionRequest['context']['user']) {
  return {
    ...(name !== '' && { username: name }),
    ...(uid !== '' && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

/** The options that the client sent; null for a connection. */
function optionsOf(request: AdmissionRequest): object | null {
  const { operation, context } = request;
  if (operation === 'CONNECT') return null;
  const common = {
    kind: optionKinds[operation],
    apiVersion: dialect().apiVersion('meta', 'v1'),
  };
  const dryRun = isDryRun(request) && { dryRun: ['All'] };
  if (operation !== 'DELETE') {
    const { sentFieldManager: fieldManager = '' } = context;
    return { ...common, ...dryRun, ...(fieldManager !== '' && { fieldManager }) };
  }
  const { gracePeriodSeconds, preconditions, orphanDependents, propagationPolicy } =
    request.deleteOptions ?? {};
  const isConditional = Object.values(preconditions ?? {}).some((value) => value !== undefined);
  return {
    ...common,
    gracePeriodSeconds,
    ...(isConditional && { preconditions }),
    orphanDependents,
    propagationPolicy,
    ...dryRun,
  };
}

const optionKinds = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
} as const;

function apiVersionOf(version: ReviewVersion): string {
  return dialect().apiVersion('admission', version);
}

export interface ExpectedResponse {
  readonly version: ReviewVersion;
  readonly uid: string;
  readonly isMutating: boolean;
}

/** The response of a webhook to a review. Throws WebhookError for anything else. */
export function parseResponse(
  { text, statusCode, contentType }: HttpPostResponse,
  expected: ExpectedResponse,
): AdmissionResponse {
  if (text === '') {
    const type = contentType || 'application/json';
    throw new WebhookError(
      `0-length response with status code: ${statusCode} and content type: ${type}`,
    );
  }
  const document = parseDocument(text);
  const sent = { apiVersion: document.apiVersion ?? '', kind: document.kind ?? '' };
  checkRegistered(sent, expected.version);
  const { response } = decodeReview(document, expected.version);
  if (!response) throw new WebhookError('webhook response was absent');
  if (expected.version === 'v1') checkResponse(response, sent, expected);
  return response;
}

/** The error of the parser is left out, because it contains a part of the response. */
function parseDocument(text: string): JsonObject {
  const failure = "couldn't get version/kind; json parse error";
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new WebhookError(`${failure}: not JSON`);
  }
  if (!isJsonObject(document ?? {})) throw new WebhookError(`${failure}: not an object`);
  const { apiVersion, kind: sentKind } = (document ?? {}) as JsonObject;
  for (const field of [apiVersion, sentKind]) {
    if (typeof (field ?? '') !== 'string') throw new WebhookError(`${failure}: not a string`);
  }
  return (document ?? {}) as JsonObject;
}

interface SentType {
  readonly apiVersion: Json;
  readonly kind: Json;
}

const shownLengthMax = 100;

function checkRegistered(sent: SentType, version: ReviewVersion): void {
  const apiVersion = sent.apiVersion || apiVersionOf(version);
  const sentKind = sent.kind || kind;
  const isReview = sentKind === kind;
  if (isReview && apiVersion === apiVersionOf(version)) return;
  const isOther =
    isReview && (apiVersion === apiVersionOf('v1') || apiVersion === apiVersionOf('v1beta1'));
  if (isOther)
    throw new WebhookError(`${apiVersion} cannot be converted to ${apiVersionOf(version)}`);
  throw new WebhookError(
    `no kind "${String(sentKind).slice(0, shownLengthMax)}" is registered for version "${String(apiVersion).slice(0, shownLengthMax)}" in scheme "webhook"`,
  );
}

function decodeReview(document: JsonObject, version: ReviewVersion): AdmissionReview {
  try {
    return codecFor<AdmissionReview>(`admission/${version}.${kind}`).fromJson(document);
  } catch (error) {
    if (error instanceof SchemaError) throw new WebhookError(error.message);
    throw error;
  }
}

/** The rules that the first version did not have. */
function checkResponse(
  { uid, patch, patchType }: AdmissionResponse,
  sent: SentType,
  expected: ExpectedResponse,
): void {
  if (uid !== expected.uid) {
    throw new WebhookError(
      `expected response.uid="${expected.uid}", got ${JSON.stringify(uid ?? '')}`,
    );
  }
  const wanted = apiVersionOf('v1');
  if (sent.apiVersion !== wanted || sent.kind !== kind) {
    throw new WebhookError(
      `expected webhook response of ${wanted}, Kind=${kind}, got ${sent.apiVersion || '/'}, Kind=${sent.kind}`,
    );
  }
  const hasPatch = (patch ?? '') !== '';
  if (!expected.isMutating) {
    if (hasPatch) throw new WebhookError('validating webhook may not return response.patch');
    if (patchType === undefined) return;
    throw new WebhookError('validating webhook may not return response.patchType');
  }
  if (hasPatch && patchType === undefined) {
    throw new WebhookError('webhook returned response.patch but not response.patchType');
  }
  if (!hasPatch && patchType !== undefined) {
    throw new WebhookError('webhook returned response.patchType but not response.patch');
  }
  if (patchType === '') {
    throw new WebhookError('webhook returned invalid response.patchType of ""');
  }
}

/** The operations of the patch; empty without a patch. Throws 500 for an invalid patch. */
export function patchOf({ patch }: AdmissionResponse): readonly JsonObject[] {
  if ((patch ?? '') === '') return [];
  let operations: unknown;
  try {
    operations = JSON.parse(Buffer.from(patch ?? '', 'base64').toString()) ?? [];
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw internalError('the patch is not JSON');
  }
  if (!Array.isArray(operations) || !operations.every(isJsonObject)) {
    throw internalError('the patch is not a list of operations');
  }
  return operations;
}
