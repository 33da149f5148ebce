/** Selector flags and object reads of several commands. */
import type { ApiList, ApiObject } from '@orch/client';
import type { Command } from 'commander';
import { UsageError } from '../command-line/errors.js';
import { apiVersionOf, type ResourceType } from '../session/catalog.js';
import type { Session } from '../session/session.js';

/** Objects per page of a list. Higher: fewer requests. Lower: the first page arrives earlier. */
export const defaultChunkSize = 500;

export interface SelectorOptions {
  readonly selector?: string;
  readonly fieldSelector?: string;
  readonly allNamespaces?: boolean;
}

export function addSelectorFlags(command: Command): Command {
  return command
    .option('-l, --selector <query>', 'labels to select by, such as app=web,tier!=cache')
    .option('--field-selector <query>', 'fields to select by, such as status.phase=Running')
    .option('-A, --all-namespaces', 'in all namespaces');
}

export function selectorQuery(options: SelectorOptions) {
  return { labelSelector: options.selector, fieldSelector: options.fieldSelector };
}

/**
 * The namespace of requests for a type. Undefined for cluster-scoped types and for all namespaces.
 */
export function namespaceFor(
  type: ResourceType,
  session: Session,
  allNamespaces = false,
): string | undefined {
  return type.namespaced && !allNamespaces ? session.namespace : undefined;
}

/** The named objects, or all that match the selectors, with `apiVersion` and `kind`. */
export async function readObjects(
  session: Session,
  type: ResourceType,
  names: readonly string[],
  options: SelectorOptions & { readonly chunkSize?: number; readonly namespace?: string },
): Promise<ApiObject[]> {
  const namespace = options.namespace ?? namespaceFor(type, session, options.allNamespaces);
  const client = session.client.resource(type, namespace);
  if (names.length > 0) {
    refuseSelectors(options);
    if (options.allNamespaces && type.namespaced) {
      throw new UsageError('a resource cannot be retrieved by name across all namespaces');
    }
    return Promise.all(names.map((name) => client.get(name)));
  }
  const list = await client.listAll({
    ...selectorQuery(options),
    limit: options.chunkSize ?? defaultChunkSize,
  });
  return itemsOf(list, type);
}

/** The items of a list with `apiVersion` and `kind`, which the items in a response lack. */
export function itemsOf(list: ApiList<ApiObject>, type: ResourceType): ApiObject[] {
  const typeMeta = { apiVersion: apiVersionOf(type), kind: type.kind };
  return list.items.map((item) => ({ ...typeMeta, ...item }));
}

export function refuseSelectors(options: SelectorOptions): void {
  if (options.selector) throw new UsageError('selectors may not be given together with names');
  if (options.fieldSelector) {
    throw new UsageError('field selectors may not be given together with names');
  }
}
