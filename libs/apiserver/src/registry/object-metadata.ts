/** The parts of an object's metadata that the server keeps, whatever the kind. */
import type { ApiObject, ResourceDefinition } from '@orch/api';
import {
  badRequest,
  type FieldError,
  formatTime,
  type ObjectMetaRules,
  subdomainName,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '@orch/apimachinery';
import type { ServedResource } from './resource.js';

/** The object's metadata, made when it has none. */
export function metadataOf(object: ApiObject): NonNullable<ApiObject['metadata']> {
  object.metadata ??= {};
  return object.metadata;
}

/** An object sent to a collection: its namespace is that of the path, or none. Throws 400. */
export function checkNamespace(served: ServedResource, object: ApiObject, namespace: string): void {
  const metadata = metadataOf(object);
  if (!served.definition.namespaced) delete metadata.namespace;
  else if (!metadata.namespace) metadata.namespace = namespace;
  else if (metadata.namespace !== namespace) {
    throw badRequest(
      `the namespace of the provided object does not match the namespace sent on the request`,
    );
  }
}

/** An object sent to its own path: it says its name; both are those of the path. Throws 400. */
export function checkIdentity(
  served: ServedResource,
  object: ApiObject,
  namespace: string,
  name: string,
): void {
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
  if (!served.definition.namespaced) delete metadata.namespace;
  else if (!metadata.namespace) metadata.namespace = namespace;
  else if (metadata.namespace !== namespace) {
    throw badRequest(
      `the namespace of the object (${metadata.namespace}) does not match the namespace on the request (${namespace})`,
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

/** Takes over what an update may not change and what it need not repeat. */
export function prepareMetadataForUpdate(object: ApiObject, existing: ApiObject): void {
  const metadata = metadataOf(object);
  const old = metadataOf(existing);
  keep('generation');
  keep('creationTimestamp');
  if (!metadata.uid) keep('uid');
  if (old.deletionTimestamp !== undefined) keep('deletionTimestamp');
  else delete metadata.deletionTimestamp;
  if (old.deletionGracePeriodSeconds !== undefined) keep('deletionGracePeriodSeconds');
  else delete metadata.deletionGracePeriodSeconds;
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

function rulesOf(definition: ResourceDefinition): ObjectMetaRules {
  return {
    namespaced: definition.namespaced,
    validateName: definition.validateName ?? subdomainName,
    strictFinalizers: definition.strictFinalizers ?? true,
  };
}

export function metadataErrors(object: ApiObject, definition: ResourceDefinition): FieldError[] {
  return validateObjectMeta(metadataOf(object), rulesOf(definition));
}

export function metadataUpdateErrors(object: ApiObject, existing: ApiObject): FieldError[] {
  return validateObjectMetaUpdate(metadataOf(object), metadataOf(existing));
}
