/** Keys of objects: `namespace/name`, or the name alone for cluster-scoped kinds. */

export interface ObjectKey {
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
}

export function objectKeyText({ namespace, name }: ObjectKey): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

export function parseObjectKey(text: string): ObjectKey {
  const slash = text.indexOf('/');
  return slash < 0
    ? { namespace: '', name: text }
    : { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

export function objectKeyOf(object: {
  readonly metadata?: { readonly namespace?: string; readonly name?: string };
}): ObjectKey {
  return { namespace: object.metadata?.namespace ?? '', name: object.metadata?.name ?? '' };
}
