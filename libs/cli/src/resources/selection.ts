/** The objects that a command line names: `type`, `type name...`, `type/name...`, `type,type`. */

import { UsageError } from '../command-line/errors.js';
import type { Catalog, ResourceType } from '../session/catalog.js';

export interface Selection {
  readonly type: ResourceType;
  /** Empty: all objects of the type, or all that match the selector. */
  readonly names: readonly string[];
  /** The namespace of an object from a file. Default: the namespace of the session. */
  readonly namespace?: string;
}

/** The selections in the order of the arguments. Throws `UsageError` for mixed forms. */
export async function selectionsOf(
  args: readonly string[],
  catalog: Catalog,
): Promise<readonly Selection[]> {
  if (args.length === 0) {
    throw new UsageError('you must specify resources, such as `pods`, `pod NAME` or `pod/NAME`');
  }
  if (args.some((argument) => argument.includes('/'))) return pairsOf(args, catalog);
  const [first = '', ...names] = args;
  const typeNames = first.split(',').filter((name) => name !== '');
  const lists = await Promise.all(typeNames.map((name) => catalog.types(name)));
  const types = unique(lists.flat());
  if (names.length > 0 && types.length === 0) throw new UsageError('no resource type was given');
  return types.map((type) => ({ type, names }));
}

async function pairsOf(args: readonly string[], catalog: Catalog): Promise<Selection[]> {
  const selections: Selection[] = [];
  for (const argument of args) {
    const [typeName = '', name = '', ...rest] = argument.split('/');
    if (typeName === '' || name === '' || rest.length > 0) {
      throw new UsageError(`when one resource is TYPE/NAME, all must be; got "${argument}"`);
    }
    selections.push({ type: await catalog.type(typeName), names: [name] });
  }
  return selections;
}

function unique(types: readonly ResourceType[]): ResourceType[] {
  const byPath = new Map(types.map((type) => [`${type.groupName}/${type.plural}`, type]));
  return [...byPath.values()];
}
