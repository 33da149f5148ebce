/**
 * Resolves name conflicts between definitions: within a group, a plural, singular or short name
 * belongs to one definition, and so does a kind or list kind. An accepted name stays with its
 * definition; otherwise the oldest definition gets it. Depends on the definitions only.
 */
import { conditionOf } from '@orch/apimachinery';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
} from '@orch/types/apiextensions/v1beta1';
import { type Finding, setCondition, statusOf } from './conditions.js';

/** The names of the other definitions in the group. */
interface Taken {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

interface Names {
  readonly accepted: CustomResourceDefinitionNames;
  readonly findings: readonly Finding[];
}

/**
 * Updates accepted names and conditions of `object` and reports whether they changed. `others`: the
 * other definitions of its group. `earlier`: reports whether another definition was created before
 * this one.
 */
export function acceptNames(
  object: CustomResourceDefinition,
  others: readonly CustomResourceDefinition[],
  earlier: (other: CustomResourceDefinition) => boolean,
  now: string,
): boolean {
  const status = statusOf(object);
  const { accepted, findings } = namesOf(object, takenBy(others, earlier));
  const before = JSON.stringify(inOrder(status.acceptedNames));
  status.acceptedNames = accepted;
  let changed = before !== JSON.stringify(inOrder(accepted));
  for (const finding of findings) changed = setCondition(status, finding, now) || changed;
  return changed;
}

function takenBy(
  others: readonly CustomResourceDefinition[],
  earlier: (other: CustomResourceDefinition) => boolean,
): Taken {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  const take = (names: CustomResourceDefinitionNames | undefined) => {
    const { plural, singular, shortNames = [], kind, listKind } = names ?? {};
    for (const name of [plural, singular, ...shortNames]) if (name) resources.add(name);
    for (const name of [kind, listKind]) if (name) kinds.add(name);
  };
  for (const other of others) {
    take(other.status?.acceptedNames);
    // Definitions that have not been processed yet precede this one if they are older.
    if (!other.status?.acceptedNames?.plural && earlier(other)) take(other.spec.names);
  }
  return { resources, kinds };
}

function namesOf({ spec, status }: CustomResourceDefinition, taken: Taken): Names {
  const requested = spec.names;
  const held = status?.acceptedNames ?? { plural: '', kind: '' };
  const accepted: CustomResourceDefinitionNames = { ...held };
  let conflict: Finding | undefined;
  const refuse = (reason: string, message: string) => {
    conflict = { type: 'NamesAccepted', status: 'False', reason, message };
  };
  const decide = (
    field: 'plural' | 'singular' | 'kind' | 'listKind',
    reason: string,
    used: ReadonlySet<string>,
  ) => {
    const name = requested[field] ?? '';
    if (name !== (held[field] ?? '') && used.has(name)) refuse(reason, inUse(name));
    else if (name !== '') accepted[field] = name;
  };
  decide('plural', 'PluralConflict', taken.resources);
  decide('singular', 'SingularConflict', taken.resources);
  const clashing = (requested.shortNames ?? []).filter(
    (name) => !held.shortNames?.includes(name) && taken.resources.has(name),
  );
  if (clashing.length > 0) {
    const messages = clashing.map(inUse);
    refuse('ShortNamesConflict', messages.length === 1 ? messages[0]! : `[${messages.join(', ')}]`);
  } else setList(accepted, 'shortNames', requested.shortNames);
  decide('kind', 'KindConflict', taken.kinds);
  decide('listKind', 'ListKindConflict', taken.kinds);
  setList(accepted, 'categories', requested.categories);
  const names = conflict ?? {
    type: 'NamesAccepted',
    status: 'True',
    reason: 'NoConflicts',
    message: 'no conflicts found',
  };
  return { accepted, findings: [names, ...established(status, conflict === undefined)] };
}

/** An established definition stays established, whatever happens to further names. */
function established(
  status: CustomResourceDefinition['status'],
  namesAccepted: boolean,
): readonly Finding[] {
  if (conditionOf(status?.conditions, 'Established')?.status === 'True') return [];
  return namesAccepted
    ? [
        {
          type: 'Established',
          status: 'True',
          reason: 'InitialNamesAccepted',
          message: 'the initial names have been accepted',
        },
      ]
    : [
        {
          type: 'Established',
          status: 'False',
          reason: 'NotAccepted',
          message: 'not all names are accepted',
        },
      ];
}

function inUse(name: string): string {
  return `${JSON.stringify(name)} is already in use`;
}

function setList(
  names: CustomResourceDefinitionNames,
  field: 'shortNames' | 'categories',
  list: string[] | undefined,
): void {
  if (list) names[field] = list;
  else delete names[field];
}

function inOrder(names: CustomResourceDefinitionNames | undefined): unknown {
  const { plural, singular, shortNames, kind, listKind, categories } = names ?? {};
  return [plural, singular, shortNames, kind, listKind, categories];
}
