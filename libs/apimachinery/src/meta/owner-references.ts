/** Owner references, and the controller among them. */
import type { OwnerReference } from '@orch/types/meta/v1';

interface Owned {
  readonly metadata?: { readonly ownerReferences?: readonly OwnerReference[] };
}

interface Owner {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: { readonly name?: string; readonly uid?: string };
}

/** A reference to the managing controller; an object has at most one. */
export function controllerReference(owner: Owner): OwnerReference {
  return { ...ownerReference(owner), controller: true, blockOwnerDeletion: true };
}

function ownerReference(owner: Owner): OwnerReference {
  return {
    apiVersion: owner.apiVersion ?? '',
    kind: owner.kind ?? '',
    name: owner.metadata?.name ?? '',
    uid: owner.metadata?.uid ?? '',
  };
}

/** The reference to the managing controller, if the object has one. */
export function controllerOf(object: Owned): OwnerReference | undefined {
  for (const reference of object.metadata?.ownerReferences ?? []) {
    if (reference.controller === true) return reference;
  }
  return undefined;
}

export function isControlledBy(object: Owned, owner: Owner): boolean {
  const uid = owner.metadata?.uid;
  return uid !== undefined && uid !== '' && controllerOf(object)?.uid === uid;
}

/**
 * Splits `group/version`; the core group is empty. Text with more than one slash yields neither.
 */
export function parseApiVersion(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf('/');
  if (slash !== apiVersion.lastIndexOf('/')) return { group: '', version: '' };
  return slash < 0
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}
