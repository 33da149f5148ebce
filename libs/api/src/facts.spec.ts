/** Compares every kind of the interface with the recorded fixtures in `test/conformance/facts`. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { dialect } from '@orch/component';
import { describe, expect, it } from 'vitest';
import type { ResourceDefinition, ServedVersion } from './definition.js';
import { definitions } from './definitions.js';

interface ResourceFacts {
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly warning?: {
    readonly deprecatedSince: string;
    readonly unavailableFrom?: string;
    readonly use?: readonly [string, string];
  };
}

interface GroupFacts {
  readonly name: string;
  /** Versions whose warnings are not recorded. */
  readonly notServedAtRelease?: readonly string[];
  readonly resources: Readonly<Record<string, Readonly<Record<string, ResourceFacts>>>>;
}

interface ColumnFacts {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly priority: number;
}

type ByVersion<T> = Readonly<Record<string, Readonly<Record<string, T>>>>;

function factsOf<T>(name: string): T {
  const path = resolve(import.meta.dirname, `../../../test/conformance/facts/${name}.json`);
  return JSON.parse(readFileSync(path, 'utf8')) as T;
}

const { groups } = factsOf<{ groups: readonly GroupFacts[] }>('resources');
const tables = factsOf<ByVersion<readonly ColumnFacts[]>>('tables');
const selectable = factsOf<{ special: ByVersion<readonly string[]> }>('selectable-fields');

const parts = ['status', 'scale', 'finalize', 'approval'] as const;
const allVerbs = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];
const served = definitions.flatMap((definition) =>
  definition.versions.filter(groupOf).map((version) => {
    const apiVersion = dialect().apiVersion(version.group, version.version);
    return [`${apiVersion} ${definition.plural}`, apiVersion, definition, version] as const;
  }),
);

function groupOf({ group }: ServedVersion): GroupFacts | undefined {
  return groups.find(({ name }) => name === dialect().group(group));
}

function resourcesOf(served: ServedVersion): Readonly<Record<string, ResourceFacts>> {
  return groupOf(served)?.resources[served.version] ?? {};
}

function warningOf({ deprecation }: ServedVersion): ResourceFacts['warning'] {
  if (!deprecation) return undefined;
  const { since, unavailableFrom, use } = deprecation;
  return {
    deprecatedSince: since,
    ...(unavailableFrom !== undefined && { unavailableFrom }),
    ...(use && { use: [dialect().apiVersion(use.group, use.version), use.kind] as const }),
  };
}

/** Undefined if only metadata fields can be selected. */
function selectableOf(
  { selectableFields, namespaced }: ResourceDefinition,
  { selectableFieldAliases = {}, emptySelectableFields = [] }: ServedVersion,
): string[] | undefined {
  if (!selectableFields && emptySelectableFields.length === 0) return undefined;
  return [
    'metadata.name',
    ...(namespaced ? ['metadata.namespace'] : []),
    ...Object.keys(selectableFields ?? {}),
    ...Object.keys(selectableFieldAliases),
    ...emptySelectableFields,
  ];
}

describe.each(served)('%s', (_name, apiVersion, definition, version) => {
  const facts = resourcesOf(version)[definition.plural];
  const hasWarning = !groupOf(version)?.notServedAtRelease?.includes(version.version);

  it('matches the fixture', () => {
    expect({
      kind: definition.kind,
      namespaced: definition.namespaced,
      verbs: definition.verbs ?? allVerbs,
      shortNames: definition.shortNames ?? [],
      categories: definition.categories ?? [],
      warning: hasWarning ? warningOf(version) : undefined,
    }).toEqual({
      kind: facts?.kind,
      namespaced: facts?.namespaced,
      verbs: facts?.verbs,
      shortNames: facts?.shortNames,
      categories: facts?.categories,
      warning: facts?.warning,
    });
  });

  it('has the recorded subresources', () => {
    const known = Object.keys(resourcesOf(version))
      .filter((name) => name.startsWith(`${definition.plural}/`))
      .map((name) => name.slice(definition.plural.length + 1))
      .filter((name) => parts.some((part) => part === name));
    const own = parts.filter(
      (name) => definition[name] && !(name === 'status' && version.withoutStatus),
    );
    expect([...own].sort()).toEqual(known.sort());
  });

  it('has the recorded columns', () => {
    const columns = tables[apiVersion]?.[definition.plural];
    if (!columns) return;
    expect(
      definition.columns.map(({ name, type, format = '', priority = 0 }) => ({
        name,
        type,
        format,
        priority,
      })),
    ).toEqual(columns);
  });

  it('supports the recorded field selectors', () => {
    const known = selectable.special[apiVersion]?.[definition.plural];
    const own = selectableOf(definition, version);
    // Versions with their own field names accept the stored names as well.
    if (version.selectableFieldAliases)
      expect(own).toEqual(expect.arrayContaining([...(known ?? [])]));
    else expect(own?.sort()).toEqual(known && [...known].sort());
  });
});
