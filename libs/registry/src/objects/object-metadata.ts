/** The parts of an object's metadata that the server keeps, whatever the kind. */
import type { ApiObject, ResourceDefinition } from '@orch/api';
import { badRequest, formatTime, semanticallyEqual } from '@orch/apimachinery';
import type { OwnerReference } from '@orch/types/meta/v1';
import type { ServedResource } from '../table/resource.js';

/** The object's metadata, made when it has none. */
export function metadataOf(object: ApiObject): NonNullable<ApiObject['metadata']> {
  object.metadata ??= {};
  return object.metadata;
}

/** The namespace of an object sent to a collection: by default, that of the path. */
function setNamespace(served: ServedResource, object: ApiObject, namespace: string): void {
  const metadata = metadataOf(object);
  if (!served.definition.namespaced) delete metadata.namespace;
  else if (!metadata.namespace) metadata.namespace = namespace;
}

/** An object sent to a collection has the namespace of the path. Throws 400. */
export function checkNamespace(served: ServedResource, object: ApiObject, namespace: string): void {
  setNamespace(served, object, namespace);
  if (served.definition.namespaced && metadataOf(object).namespace !== namespace) {
    throw badRequest(
      `the namespace of the provided object does not match the namespace sent on the request`,
    );
  }
}

/**
 * An object sent to its own path has the name and the namespace of the path. The namespace of a
 * path to a namespace is its name. Throws 400.
 */
export function checkIdentity(object: ApiObject, namespace: string, name: string): void {
  const metadata = metadataOf(object);
  if (!metadata.name) {
    throw badRequest(
      `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
    );
  }
  if (metadata.name !== name) {
    throw badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${name})`,
    );
  }
  const { namespace: sent = '' } = metadata;
  if (namespace !== '' && sent !== '' && sent !== namespace) {
    throw badRequest(
      `the namespace of the object (${sent}) does not match the namespace on the request (${namespace})`,
    );
  }
}

/** Sets what a new object gets from the server and drops what a client may not set. */
export function prepareMetadataForCreate(
  object: ApiObject,
  definition: ResourceDefinition,
  uid: string,
  nowMs: number,
): void {
  const metadata = metadataOf(object);
  metadata.uid = uid;
  metadata.creationTimestamp = formatTime(nowMs);
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.selfLink;
  delete metadata.clusterName;
  if (definition.hasGeneration) metadata.generation = 1;
}

/** Copies the immutable fields, and the fields that an update may omit. */
export function prepareMetadataForUpdate(object: ApiObject, existing: ApiObject): void {
  const metadata = metadataOf(object);
  const old = metadataOf(existing);
  keep('generation');
  keep('creationTimestamp');
  if (!metadata.uid) keep('uid');
  // Setting either is an error of validation.
  if (old.deletionTimestamp !== undefined) keep('deletionTimestamp');
  if (metadata.deletionGracePeriodSeconds === undefined) keep('deletionGracePeriodSeconds');
  delete metadata.selfLink;
  delete metadata.clusterName;
  if (metadata.finalizers?.length === 0) delete metadata.finalizers;

  function keep(
    field:
      | 'generation'
      | 'creationTimestamp'
      | 'uid'
      | 'deletionTimestamp'
      | 'deletionGracePeriodSeconds',
  ): void {
    if (old[field] === undefined) delete metadata[field];
    else Object.assign(metadata, { [field]: old[field] });
  }
}

/**
 * Removes owner references that repeat an earlier one. Returns the warning for the client.
 * `whenAdmitted`: admission has changed the object.
 */
export function dropRepeatedOwners(object: ApiObject, whenAdmitted: boolean): string | undefined {
  const references = object.metadata?.ownerReferences ?? [];
  if (references.length < 2) return undefined;
  const distinct: OwnerReference[] = [];
  const repeated: string[] = [];
  for (const reference of references) {
    if (distinct.some((other) => semanticallyEqual(other, reference))) repeated.push(reference.uid);
    else distinct.push(reference);
  }
  if (repeated.length === 0) return undefined;
  metadataOf(object).ownerReferences = distinct;
  const rest = `duplicate UID(s) observed: ${repeated.join(', ')}`;
  return whenAdmitted
    ? `.metadata.ownerReferences contains duplicate entries after mutating admission happens; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; ${rest}`
    : `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; ${rest}`;
}
