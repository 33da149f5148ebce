/** The errors of the in-memory API server. */
import type { ApiObject } from '../objects.js';
import { ApiError, type StatusDetails } from '../rest/api-error.js';
import type { KnownResource } from '../rest/resource-ref.js';

type Resource = KnownResource<ApiObject>;

function errorOf(code: number, reason: string, message: string, details: StatusDetails = {}) {
  return new ApiError(code, reason, message, details);
}

export function notFound({ plural }: { readonly plural: string }, name: string): ApiError {
  return errorOf(404, 'NotFound', `${plural} "${name}" not found`);
}

export function alreadyExists({ plural }: Resource, name: string): ApiError {
  return errorOf(409, 'AlreadyExists', `${plural} "${name}" already exists`);
}

export function conflict({ plural }: Resource, name: string): ApiError {
  const message = `Operation cannot be fulfilled on ${plural} "${name}": the object has been modified`;
  return errorOf(409, 'Conflict', message);
}

export function invalid({ kind }: Resource, name: string): ApiError {
  const message = `${kind} "${name}" is invalid: metadata.uid: Invalid value: field is immutable`;
  return errorOf(422, 'Invalid', message);
}

export function namespaceTerminating({ plural }: Resource, namespace: string): ApiError {
  const message = `${plural} is forbidden: namespace ${namespace} is being terminated`;
  return errorOf(403, 'Forbidden', message, { causes: [{ reason: 'NamespaceTerminating' }] });
}

export function expired(version: number): ApiError {
  return errorOf(410, 'Expired', `too old resource version: ${version}`);
}

export function unsupported(method: string, path: string): ApiError {
  return errorOf(405, 'MethodNotAllowed', `${method} ${path} is not supported`);
}
