/**
 * Constructors of every failure the interface answers with, in its wording. Groups are wire names, empty
 * for the core group; `resource` is a plural, `kind` a kind.
 */
import { fieldErrorsShownMax } from '../limits.js';
import {
  aggregateMessages,
  type FieldError,
  fieldErrorBody,
  fieldErrorMessage,
  fieldErrorReason,
} from './field-error.js';
import type { StatusCause, StatusDetails } from './status.js';
import { StatusError } from './status-error.js';

export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

/** `pods`, `deployments.apps`. */
function groupResourceText({ group, resource }: GroupResource): string {
  return group === '' ? resource : `${resource}.${group}`;
}

/** `Pod`, `Deployment.apps`. */
function groupKindText({ group, kind }: GroupKind): string {
  return group === '' ? kind : `${kind}.${group}`;
}

function detailsOf(
  name: string,
  group: string,
  kind: string,
  more: Pick<StatusDetails, 'causes' | 'retryAfterSeconds'> = {},
): StatusDetails {
  return {
    ...(name !== '' && { name }),
    ...(group !== '' && { group }),
    ...(kind !== '' && { kind }),
    ...more,
  };
}

export function notFound(target: GroupResource, name: string): StatusError {
  return new StatusError({
    code: 404,
    reason: 'NotFound',
    message: `${groupResourceText(target)} "${name}" not found`,
    details: detailsOf(name, target.group, target.resource),
  });
}

/** The path itself is unknown. */
export function pathNotFound(): StatusError {
  return new StatusError({
    code: 404,
    reason: 'NotFound',
    message: 'the server could not find the requested resource',
    details: {},
  });
}

/** `beingDeleted`: the object that holds the name has a deletionTimestamp. */
export function alreadyExists(
  target: GroupResource,
  name: string,
  beingDeleted = false,
): StatusError {
  const message = `${groupResourceText(target)} "${name}" already exists`;
  return new StatusError({
    code: 409,
    reason: 'AlreadyExists',
    message: beingDeleted ? `object is being deleted: ${message}` : message,
    details: detailsOf(name, target.group, target.resource),
  });
}

/** No free name was found for a generateName. */
export function generateNameConflict(target: GroupResource, name: string): StatusError {
  return new StatusError({
    code: 409,
    reason: 'AlreadyExists',
    message: `${groupResourceText(target)} "${name}" already exists, the server was not able to generate a unique name for the object`,
    details: detailsOf(name, target.group, target.resource, { retryAfterSeconds: 1 }),
  });
}

/** Detail of the conflict that a stale resourceVersion makes. */
const objectModified =
  'the object has been modified; please apply your changes to the latest version and try again';

export function conflict(
  target: GroupResource,
  name: string,
  detail: string = objectModified,
): StatusError {
  return new StatusError({
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${groupResourceText(target)} "${name}": ${detail}`,
    details: detailsOf(name, target.group, target.resource),
  });
}

/** An applied configuration would change fields that other managers own; a cause for each. */
export function applyConflict(message: string, causes: readonly StatusCause[]): StatusError {
  return new StatusError({ code: 409, reason: 'Conflict', message, details: { causes } });
}

/** Validation failed. Causes keep repeated errors, the message names each once. */
export function invalid(
  target: GroupKind,
  name: string,
  errors: readonly FieldError[],
): StatusError {
  const shown = errors.length > fieldErrorsShownMax ? errors.slice(0, fieldErrorsShownMax) : errors;
  const causes = shown.map((error) => ({
    reason: fieldErrorReason(error),
    message: fieldErrorBody(error),
    field: error.field,
  }));
  const more = errors.length > shown.length ? ` and ${errors.length - shown.length} more` : '';
  const reasons = aggregateMessages(shown.map(fieldErrorMessage)) + more;
  return new StatusError({
    code: 422,
    reason: 'Invalid',
    message: `${groupKindText(target)} "${name}" is invalid: ${reasons}`,
    details: detailsOf(name, target.group, target.kind, { causes }),
  });
}

/** A patch that cannot be applied, with nothing said about why. */
export function unprocessable(): StatusError {
  return new StatusError({
    code: 422,
    reason: 'Invalid',
    message: 'the server rejected our request due to an error in our request',
    details: {},
  });
}

export function badRequest(message: string): StatusError {
  return new StatusError({ code: 400, reason: 'BadRequest', message });
}

export function unauthorized(): StatusError {
  return new StatusError({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' });
}

/** What a user asked for, as far as refusals name it. */
export interface RequestAttributes {
  readonly user: string;
  readonly verb: string;
  /** Present for requests on resources; the others name their path. */
  readonly resource?: {
    readonly group: string;
    /** Plural. */
    readonly resource: string;
    readonly subresource: string;
    readonly namespace: string;
    readonly name: string;
  };
  readonly path: string;
}

/** Authorization refused the request; `reason` is added when the authorizer gave one. */
export function forbidden(attributes: RequestAttributes, reason = ''): StatusError {
  const { user, verb, resource } = attributes;
  const tail = reason === '' ? '' : `: ${reason}`;
  if (!resource) {
    return new StatusError({
      code: 403,
      reason: 'Forbidden',
      message: `forbidden: User "${user}" cannot ${verb} path "${attributes.path}"${tail}`,
      details: {},
    });
  }
  const full = resource.subresource
    ? `${resource.resource}/${resource.subresource}`
    : resource.resource;
  const scope = resource.namespace
    ? `in the namespace "${resource.namespace}"`
    : 'at the cluster scope';
  const cause = `User "${user}" cannot ${verb} resource "${full}" in API group "${resource.group}" ${scope}${tail}`;
  return forbiddenObject(resource, resource.name, cause);
}

/** Admission or a rule of the kind refused the object. */
export function forbiddenObject(
  target: GroupResource,
  name: string,
  cause: string,
  causes?: readonly StatusCause[],
): StatusError {
  const subject = groupResourceText(target);
  return new StatusError({
    code: 403,
    reason: 'Forbidden',
    message: `${name === '' ? subject : `${subject} "${name}"`} is forbidden: ${cause}`,
    details: detailsOf(name, target.group, target.resource, causes && { causes }),
  });
}

/** `verb` as users say it: `update`, `create`. Without a resource the method is unknown for the path. */
export function methodNotSupported(target?: GroupResource, verb = ''): StatusError {
  return new StatusError({
    code: 405,
    reason: 'MethodNotAllowed',
    message:
      target === undefined
        ? 'the server does not allow this method on the requested resource'
        : `${verb} is not supported on resources of kind "${groupResourceText(target)}"`,
    details: target === undefined ? {} : detailsOf('', target.group, target.resource),
  });
}

export function notAcceptable(accepted: readonly string[]): StatusError {
  return new StatusError({
    code: 406,
    reason: 'NotAcceptable',
    message: `only the following media types are accepted: ${accepted.join(', ')}`,
  });
}

/** A view was asked for that the answer cannot be shown in. */
export function notAcceptableView(message: string): StatusError {
  return new StatusError({ code: 406, reason: 'NotAcceptable', message });
}

export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  return new StatusError({
    code: 415,
    reason: 'UnsupportedMediaType',
    message: `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  });
}

export function gone(message: string): StatusError {
  return new StatusError({ code: 410, reason: 'Gone', message });
}

/** A version or continue token that is no longer kept. */
export function expired(message: string): StatusError {
  return new StatusError({ code: 410, reason: 'Expired', message });
}

/** `The resourceVersion for the provided list is too old.` and its watch form. */
export function resourceExpired(what: 'list' | 'watch' = 'list'): StatusError {
  return expired(`The resourceVersion for the provided ${what} is too old.`);
}

export function tooManyRequests(
  message: string,
  retryAfterSeconds?: number,
  causes?: readonly StatusCause[],
): StatusError {
  return new StatusError({
    code: 429,
    reason: 'TooManyRequests',
    message,
    details: {
      ...(causes && { causes }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    },
  });
}

/** The request did not end within its deadline. */
export function timeout(message: string, retryAfterSeconds?: number): StatusError {
  return new StatusError({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: ${message}`,
    details: retryAfterSeconds === undefined ? {} : { retryAfterSeconds },
  });
}

/** The server could not decide within its own limits; the outcome may be unknown. */
export function serverTimeout(
  target: GroupResource,
  verb: string,
  retryAfterSeconds: number,
): StatusError {
  return new StatusError({
    code: 500,
    reason: 'ServerTimeout',
    message: `The ${verb} operation against ${groupResourceText(target)} could not be completed at this time, please try again.`,
    details: detailsOf('', target.group, target.resource, { retryAfterSeconds }),
  });
}

export function serviceUnavailable(message: string, retryAfterSeconds?: number): StatusError {
  return new StatusError({
    code: 503,
    reason: 'ServiceUnavailable',
    message,
    ...(retryAfterSeconds !== undefined && { details: { retryAfterSeconds } }),
  });
}

export function internalError(message: string): StatusError {
  return new StatusError({
    code: 500,
    reason: 'InternalError',
    message: `Internal error occurred: ${message}`,
    details: { causes: [{ message }] },
  });
}

/** `limit` is the text after the colon, such as `limit is 3145728`. */
export function requestEntityTooLarge(limit: string): StatusError {
  return new StatusError({
    code: 413,
    reason: 'RequestEntityTooLarge',
    message: `Request entity too large: ${limit}`,
  });
}

/** A read asks for a version that does not exist yet. `retryAfterSeconds`: absent for exact reads. */
export function tooLargeResourceVersion(
  asked: bigint | number | string,
  current: bigint | number | string,
  retryAfterSeconds?: number,
): StatusError {
  return new StatusError({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: Too large resource version: ${asked}, current: ${current}`,
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    },
  });
}
