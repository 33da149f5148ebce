/** Operations on paths, the input of the documents, and how they are named. */
import type { TypeName } from '@orch/apimachinery';
import type { ServedResource } from '@orch/registry';
import type { Parameter } from './parameters.js';
import type { GroupVersionKind } from './schema-types.js';

export type Method = 'get' | 'put' | 'post' | 'delete' | 'patch';

export interface Operation {
  readonly method: Method;
  readonly id: string;
  readonly tag: string;
  readonly description: string;
  /** Verb and kind; absent for paths that name no resource. */
  readonly action?: string;
  readonly kind?: GroupVersionKind;
  readonly parameters: readonly Parameter[];
  readonly body?: { readonly type: TypeName; readonly required: boolean };
  readonly consumes: readonly string[];
  readonly produces: readonly string[];
  /** Type of the response body by status code; plain text if undefined. */
  readonly responses: Readonly<Record<string, TypeName | undefined>>;
}

export interface PathOperations {
  readonly path: string;
  /** Parameters of every operation. */
  readonly parameters: readonly Parameter[];
  readonly operations: readonly Operation[];
}

/** `rbac.authorization` and `v1` -> `RbacAuthorizationV1`. */
export function idOfVersion({ served }: ServedResource): string {
  return [...served.group.split('.'), served.version].map(capitalised).join('');
}

/** `rbac.authorization` and `v1` -> `rbacAuthorization_v1`. */
export function tagOf({ served }: ServedResource): string {
  const [head = '', ...more] = served.group.split('.');
  return `${head}${more.map(capitalised).join('')}_${served.version}`;
}

export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
