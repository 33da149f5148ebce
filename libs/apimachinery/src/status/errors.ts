/**
 * Constructors of every failure of the interface, in its wording. Groups are wire names, empty for
 * the core group; `resource` is a plural, `kind` a kind.
 */
import { reportedFieldErrorCountMax } from '../limits.js';
import {
  aggregateMessages,
  type FieldError,
  fieldErrorBody,
  fieldErrorMessage,
  fieldErrorReason,
} from './field-error.js';
import type { StatusCause, StatusDetails } from './status.js';
import { StatusError } from './status-error.js';
import { quote } from './value-format.js';

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
    message: `${groupResourceText(target)} ${quote(name)} not found`,
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

/** `beingDeleted`: the existing object has a deletionTimestamp. */
export function alreadyExists(
  target: GroupResource,
  name: string,
  beingDeleted = false,
): StatusError {
  const message = `${groupResourceText(target)} ${quote(name)} already exists`;
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
    message: `${groupResourceText(target)} ${quote(name)} already exists, the server was not able to generate a unique name for the object`,
    details: detailsOf(name, target.group, target.resource, { retryAfterSeconds: 1 }),
  });
}

/** The detail of a conflict caused by a stale resourceVersion. */
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
    message: `Operation cannot be fulfilled on ${groupResourceText(target)} ${quote(name)}: ${detail}`,
    details: detailsOf(name, target.group, target.resource),
  });
}

/** An applied configuration would change fields of other managers; one cause per field. */
export function applyConflict(message: string, causes: readonly StatusCause[]): StatusError {
  return new StatusError({ code: 409, reason: 'Conflict', message, details: { causes } });
}

/** Validation failed. The causes repeat duplicate errors, the message does not. */
export function invalid(
  target: GroupKind,
  name: string,
  errors: readonly FieldError[],
): StatusError {
  const reported =
    errors.length > reportedFieldErrorCountMax
      ? errors.slice(0, reportedFieldErrorCountMax)
      : errors;
  const causes = reported.map((error) => ({
    reason: fieldErrorReason(error),
    message: fieldErrorBody(error),
    field: error.field,
  }));
  const more =
    errors.length > reported.length ? ` and ${errors.length - reported.length} more` : '';
  const reasons = aggregateMessages(reported.map(fieldErrorMessage)) + more;
  return new StatusError({
    code: 422,
    reason: 'Invalid',
    message: `${groupKindText(target)} ${quote(name)} is invalid: ${reasons}`,
    details: detailsOf(name, target.group, target.kind, { causes }),
  });
}

/** A patch that cannot be applied, without a reason. */
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

/** The attributes of a request that a rejection names. */
export interface RequestAttributes {
  readonly user: string;
  readonly verb: string;
  /** Present for resource requests; other requests have a path. */
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

/** Authorization denied the request; `reason` is appended if the authorizer gave one. */
export function forbidden(attributes: RequestAttributes, reason = ''): StatusError {
  const { user, verb, resource } = attributes;
  const tail = reason === '' ? '' : `: ${reason}`;
  if (!resource) {
    return new StatusError({
      code: 403,
      reason: 'Forbidden',
      message: `forbidden: User ${quote(user)} cannot ${verb} path ${quote(attributes.path)}${tail}`,
      details: {},
    });
  }
  const full = resource.subresource
    ? `${resource.resource}/${resource.subresource}`
    : resource.resource;
  const scope = resource.namespace
    ? `in the namespace ${quote(resource.namespace)}`
    : 'at the cluster scope';
  const cause = `User ${quote(user)} cannot ${verb} resource ${quote(full)} in API group ${quote(resource.group)} ${scope}${tail}`;
  return forbiddenObject(resource, resource.name, cause);
}

/** Admission or a rule of the kind rejected the object. */
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
    message: `${name === '' ? subject : `${subject} ${quote(name)}`} is forbidden: ${cause}`,
    details: detailsOf(name, target.group, target.resource, causes && { causes }),
  });
}

/**
 * `verb` as users write it: `update`, `create`. Without a resource, the path does not support the
 * method.
 */
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

/** The response cannot be represented in the requested view. */
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

/** The version or continue token was compacted. */
export function expired(message: string): StatusError {
  return new StatusError({ code: 410, reason: 'Expired', message });
}

/** `The resourceVersion for the provided list is too old.`, or the same for a watch. */
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

/** The request exceeded its deadline. */
export function timeout(message: string, retryAfterSeconds?: number): StatusError {
  return new StatusError({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: ${message}`,
    details: retryAfterSeconds === undefined ? {} : { retryAfterSeconds },
  });
}

/** The server exceeded one of its own timeouts; the outcome may be unknown. */
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

/** A read requests a future version. `retryAfterSeconds` is absent for exact reads. */
export function tooLargeResourceVersion(
  requested: bigint | number | string,
  current: bigint | number | string,
  retryAfterSeconds?: number,
): StatusError {
  return new StatusError({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: Too large resource version: ${requested}, current: ${current}`,
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    },
  });
}
