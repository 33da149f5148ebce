/**
 * The objects of the load: two kinds with data and a label, in one namespace. A key is
 * `<resource>/<name>`, a value the content that its writer made unique.
 */
import type { Version } from '../../history/history.js';

export const namespace = 'default';
export const resources = ['configmaps', 'secrets'] as const;
/** The label of these objects in metrics. */
export const kinds = ['ConfigMap', 'Secret'] as const;
const namesPerResource = 12;
const namePrefix = 'chaos-';

export const loadKeys: readonly string[] = resources.flatMap((resource) =>
  Array.from({ length: namesPerResource }, (_, at) => `${resource}/${namePrefix}${at}`),
);

/** Other objects of these kinds do not belong to the load. */
export function isLoadKey(key: string): boolean {
  return key.split('/')[1]?.startsWith(namePrefix) === true;
}

export interface LoadObject {
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
  readonly data?: Readonly<Record<string, string>>;
}

export interface LoadList {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly LoadObject[];
}

export function collectionPath(resource: string): string {
  return `/api/v1/namespaces/${namespace}/${resource}`;
}

export function objectPath(key: string): string {
  const [resource = '', name = ''] = key.split('/');
  return `${collectionPath(resource)}/${name}`;
}

/** Data of a secret is base64, of a config map text. */
export function dataOf(key: string, value: string): Record<string, string> {
  return { value: key.startsWith('secrets/') ? Buffer.from(value).toString('base64') : value };
}

export function contentOf(resource: string, { data }: LoadObject): string {
  const value = data?.value ?? '';
  return resource === 'secrets' ? Buffer.from(value, 'base64').toString() : value;
}

export function versionOf(resource: string, object: LoadObject): Version {
  const { name, resourceVersion } = object.metadata;
  return {
    key: `${resource}/${name}`,
    value: contentOf(resource, object),
    revision: Number(resourceVersion),
  };
}
