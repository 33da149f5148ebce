/** The objects that a command line names: `type`, `type name...`, `type/name...`, `type,type`. */
import type { Catalog, ResourceType } from './catalog.js';
import { UsageError } from './errors.js';

export interface Selection {
  readonly type: ResourceType;
  /** Empty: all of the type, or those of a selector. */
  readonly names: readonly string[];
  /** Of objects from files; otherwise the session's. */
  readonly namespace?: string;
}

/** In the order in which they were named. Throws `UsageError` for mixed forms. */
export async function selectionsOf(
  args: readonly string[],
  catalog: Catalog,
): Promise<readonly Selection[]> {
  if (args.length === 0) {
    throw new UsageError('you must say which resources, such as `pods`, `pod NAME` or `pod/NAME`');
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
      throw new UsageError(
        `give every resource as TYPE/NAME when one is given so, got "${argument}"`,
      );
    }
    selections.push({ type: await catalog.type(typeName), names: [name] });
  }
  return selections;
}

function unique(types: readonly ResourceType[]): ResourceType[] {
  const byPath = new Map(types.map((type) => [`${type.groupName}/${type.plural}`, type]));
  return [...byPath.values()];
}
