/** What every kind says of itself, against what is known of the interface. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dialect } from '@orch/component';
import { describe, expect, it } from 'vitest';
import type { ResourceDefinition, ServedVersion } from './definition.js';
import { definitions } from './definitions.js';

interface ResourceFacts {
  readonly kind: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly storage?: string;
  readonly warning?: {
    readonly deprecatedSince: string;
    readonly unavailableFrom?: string;
    readonly use?: readonly [string, string];
  };
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly priority: number;
}

interface Resources {
  readonly groups: readonly {
    readonly name: string;
    /** Versions whose warnings the facts do not have. */
    readonly notServedAtRelease?: readonly string[];
    readonly resources: Record<string, Record<string, ResourceFacts>>;
  }[];
}

function read<T>(name: string): T {
  const path = join(import.meta.dirname, '../../../test/conformance/facts', name);
  return JSON.parse(readFileSync(path, 'utf8')) as T;
}

const { groups } = read<Resources>('resources.json');
const tables = read<Record<string, Record<string, Column[]>>>('tables.json');
const allVerbs = 'create delete deletecollection get list patch update watch'.split(' ');
const parts = ['status', 'scale', 'finalize', 'approval'] as const;

function groupOf({ group }: ServedVersion) {
  return groups.find(({ name }) => name === dialect().group(group));
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

const served = definitions.flatMap((definition) =>
  definition.versions.map((version): [string, ResourceDefinition, ServedVersion] => [
    `${definition.plural} of ${dialect().apiVersion(version.group, version.version)}`,
    definition,
    version,
  ]),
);

describe.each(served)('%s', (_, definition, version) => {
  const group = groupOf(version);
  const facts = group?.resources[version.version] ?? {};
  const hasWarning = !group?.notServedAtRelease?.includes(version.version);

  it('are what discovery is known to say', () => {
    const { stored, plural } = definition;
    const known = facts[plural];
    expect({
      kind: definition.kind,
      singular: definition.singular,
      namespaced: definition.namespaced,
      verbs: definition.verbs ?? allVerbs,
      shortNames: definition.shortNames ?? [],
      categories: definition.categories ?? [],
      storage: definition.virtual ? undefined : dialect().apiVersion(stored.group, stored.version),
      warning: hasWarning ? warningOf(version) : undefined,
    }).toEqual({
      kind: known?.kind,
      singular: known?.singular,
      namespaced: known?.namespaced,
      verbs: known?.verbs,
      shortNames: known?.shortNames,
      categories: known?.categories,
      storage: known?.storage,
      warning: known?.warning,
    });
  });

  it('have the subresources that are known', () => {
    const known = parts.filter((part) => facts[`${definition.plural}/${part}`] !== undefined);
    expect(parts.filter((part) => definition[part] !== undefined)).toEqual(known);
  });

  it.skipIf(definition.virtual)('have the columns that are known', () => {
    const columns = definition.columns.map(({ name, type, format = '', priority = 0 }) => ({
      name,
      type,
      format,
      priority,
    }));
    const known = tables[dialect().apiVersion(version.group, version.version)];
    expect(columns).toEqual(known?.[definition.plural]);
  });
});
