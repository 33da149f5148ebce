/** Discovery, tables and field selectors of every kind that is served, against the interface's facts. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dialect } from '@orch/component';
import { describe, expect, it } from 'vitest';
import type { ResourceDefinition, ServedVersion, Verb } from './definition.js';
import { definitions } from './definitions.js';

interface ResourceFact {
  readonly kind: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly storage: string;
  readonly warning?: {
    readonly deprecatedSince: string;
    readonly unavailableFrom?: string;
    readonly use?: readonly [string, string];
  };
}

interface ResourcesFact {
  readonly groups: readonly {
    readonly name: string;
    readonly resources: Readonly<Record<string, Readonly<Record<string, ResourceFact>>>>;
  }[];
}

interface ColumnFact {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly priority: number;
}

type ByVersionAndPlural<T> = Readonly<Record<string, Readonly<Record<string, T>>>>;

const folder = join(import.meta.dirname, '../../../test/conformance/facts');
const read = <T>(name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as T;

const { groups } = read<ResourcesFact>('resources.json');
const tables = read<ByVersionAndPlural<readonly ColumnFact[]>>('tables.json');
const { special } = read<{ special: ByVersionAndPlural<readonly string[]> }>(
  'selectable-fields.json',
);

const everyVerb: readonly Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

const apiVersionOf = (version: ServedVersion) =>
  dialect().apiVersion(version.group, version.version);

function factsOf(version: ServedVersion): Readonly<Record<string, ResourceFact>> {
  const group = groups.find(({ name }) => name === dialect().group(version.group));
  return group?.resources[version.version] ?? {};
}

const served = definitions.flatMap((definition) =>
  definition.versions.map((version) => ({
    definition,
    version,
    name: `${apiVersionOf(version)} ${definition.plural}`,
  })),
);

function discovered(definition: ResourceDefinition, { deprecation }: ServedVersion): ResourceFact {
  const { kind, singular, namespaced, stored, verbs = everyVerb } = definition;
  const { since, unavailableFrom, use } = deprecation ?? {};
  return {
    kind,
    singular,
    namespaced,
    verbs: [...verbs].sort(),
    shortNames: definition.shortNames ?? [],
    categories: definition.categories ?? [],
    storage: dialect().apiVersion(stored.group, stored.version),
    ...(since !== undefined && {
      warning: {
        deprecatedSince: since,
        ...(unavailableFrom !== undefined && { unavailableFrom }),
        ...(use && { use: [dialect().apiVersion(use.group, use.version), use.kind] as const }),
      },
    }),
  };
}

describe.each(served)('$name', ({ definition, version }) => {
  const { plural } = definition;
  const facts = factsOf(version);

  it('is discovered as known', () => {
    const { type: _, ...fact } = facts[plural] as ResourceFact & { type: string };
    expect(discovered(definition, version)).toEqual(fact);
  });
  it('has the parts that are known', () => {
    for (const part of ['status', 'scale', 'finalize'] as const) {
      const isLeftOut = part === 'status' && version.withoutStatus;
      expect({ part, is: definition[part] !== undefined && !isLeftOut }).toEqual({
        part,
        is: facts[`${plural}/${part}`] !== undefined,
      });
    }
  });
  it('has the columns that are known', () => {
    const columns = definition.columns.map(({ name, type, format = '', priority = 0 }) => ({
      name,
      type,
      format,
      priority,
    }));
    expect(columns).toEqual(tables[apiVersionOf(version)]?.[plural]);
  });
  it('is selected by the fields that are known', () => {
    const known = special[apiVersionOf(version)]?.[plural];
    const own = (known ?? []).filter(
      (label) => label !== 'metadata.name' && label !== 'metadata.namespace',
    );
    const aliases = version.selectableFieldAliases ?? {};
    const aliased = new Set(Object.values(aliases));
    const labels = Object.keys(definition.selectableFields ?? {});
    for (const label of own) expect(labels).toContain(aliases[label] ?? label);
    expect(definition.selectableFields === undefined).toBe(known === undefined);
    // A label that has another name in this version is known by that name only.
    for (const label of own) expect(aliased.has(label) && !(label in aliases)).toBe(false);
  });
});
