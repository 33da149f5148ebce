/**
 * The content of the pages: every kind with its versions, and the page of every type. A type that
 * only one page refers to is on that page; a type that several pages refer to is on the page of its
 * group's shared types, or on its own page if it is listed below.
 */
import {
  definitions,
  metricsDefinitions,
  type ResourceDefinition,
  type ServedVersion,
} from '@orch/api';
import { schemaType, type TypeName } from '@orch/apimachinery';
import {
  type Subresource,
  type SubresourceDependencies,
  subresourcesOf,
} from '../../libs/apiserver/src/handlers/subresources.js';
import type { ServedResource } from '../../libs/registry/src/table/resource.js';
import { ResourceTable } from '../../libs/registry/src/table/resource-table.js';
import { differences } from './differences.js';
import { canonical, fieldsOf, hasFields, partsOf } from './shape.js';
import { fileNameOf, typeNameOf } from './type-names.js';

/** Shared types with their own page; types that only they refer to are on the same page. */
const ownPages: Readonly<Record<string, readonly TypeName[]>> = {
  'types/object-meta.md': ['meta/v1.ObjectMeta'],
  'types/label-selector.md': ['meta/v1.LabelSelector'],
  'types/pod-template-spec.md': ['core/v1.PodTemplateSpec'],
  'types/pod-spec.md': ['core/v1.PodSpec'],
  'types/container.md': ['core/v1.Container', 'core/v1.EphemeralContainer'],
  'types/probe.md': ['core/v1.Probe'],
  'types/volume.md': ['core/v1.Volume', 'core/v1.PersistentVolumeSpec'],
  'types/affinity.md': ['core/v1.Affinity'],
};

export interface KindEntry {
  readonly definition: ResourceDefinition;
  /** Group head, which is the folder of the page. */
  readonly group: string;
  /** The version in the tables of the page: the first of the definition. */
  readonly main: ServedVersion;
  readonly type: TypeName;
  readonly served: readonly { readonly at: ServedResource; readonly subresources: Subresource[] }[];
  readonly page: string;
}

export interface Page {
  /** Relative to `docs/api`. */
  readonly path: string;
  /** Types with their own section, in page order. */
  readonly types: TypeName[];
}

export interface Catalogue {
  readonly kinds: readonly KindEntry[];
  /** Pages by path, for kinds and for shared types. */
  readonly pages: ReadonlyMap<string, Page>;
  readonly pageOf: ReadonlyMap<TypeName, string>;
  /** Types of other versions that are described by an equal type. */
  readonly standIns: ReadonlyMap<TypeName, TypeName>;
}

type StandIns = ReadonlyMap<TypeName, TypeName>;

function refsOf(name: TypeName, standIns: StandIns): TypeName[] {
  return fieldsOf(name).flatMap(({ field }) => {
    if (field.ref === undefined) return [];
    const ref = canonical(field.ref);
    return hasFields(schemaType(ref)) ? [standIns.get(ref) ?? ref] : [];
  });
}

/**
 * Types of a kind's other versions that equal the type with the same name in an earlier version.
 */
function standInsOf(kinds: readonly KindEntry[]): Map<TypeName, TypeName> {
  const standIns = new Map<TypeName, TypeName>();
  for (const { definition } of kinds) {
    const known = new Map<string, TypeName[]>();
    for (const version of definition.versions) {
      const root = typeNameOf(version, definition.kind);
      for (const name of reachedFrom([root], new Set(), new Map())) {
        const { type } = partsOf(name);
        const namesakes = known.get(type) ?? [];
        if (namesakes.includes(name)) continue;
        const same = namesakes.find((other) => differences(other, name).length === 0);
        if (same === undefined) known.set(type, [...namesakes, name]);
        else standIns.set(name, same);
      }
    }
  }
  return standIns;
}

/** Types reachable from the roots, breadth first, without passing through `stops`. */
function reachedFrom(
  roots: readonly TypeName[],
  stops: ReadonlySet<TypeName>,
  standIns: StandIns,
): TypeName[] {
  const all = new Set<TypeName>();
  for (const root of roots) {
    const seen = new Set([root]);
    for (const name of seen) {
      for (const ref of refsOf(name, standIns)) if (!stops.has(ref)) seen.add(ref);
    }
    for (const name of seen) all.add(name);
  }
  return [...all];
}

/** The pages that refer to each type. */
function readersOf(
  roots: ReadonlyMap<string, readonly TypeName[]>,
  standIns: StandIns,
): Map<TypeName, Set<string>> {
  const stops = new Set([...roots.values()].flat());
  const readers = new Map<TypeName, Set<string>>();
  for (const [page, types] of roots) {
    for (const name of reachedFrom(types, stops, standIns)) {
      const known = readers.get(name);
      if (known) known.add(page);
      else readers.set(name, new Set([page]));
    }
  }
  return readers;
}

/** Adds types with several pages to the pages of shared types, outermost types first. */
function share(roots: Map<string, TypeName[]>, standIns: StandIns): void {
  for (;;) {
    const readers = readersOf(roots, standIns);
    const shared = [...readers].filter(([, pages]) => pages.size > 1).map(([name]) => name);
    if (shared.length === 0) return;
    const among = new Set(shared);
    const inner = new Set(
      shared.flatMap((name) => refsOf(name, standIns)).filter((name) => among.has(name)),
    );
    const outer = shared.filter((name) => !inner.has(name));
    for (const name of outer.length > 0 ? outer : shared) {
      const page = `types/${partsOf(name).file.split('/')[0]}.md`;
      roots.set(page, [...(roots.get(page) ?? []), name]);
    }
  }
}

function kindEntry(definition: ResourceDefinition, table: ResourceTable): KindEntry {
  const main = definition.versions[0]!;
  const own = table.served.filter((served) => served.definition === definition);
  return {
    definition,
    group: main.group,
    main,
    type: typeNameOf(main, definition.kind),
    // Handlers are created but never called here, so that their dependencies may be missing.
    served: own.map((at) => ({
      at,
      subresources: subresourcesOf(at, { registry: {} } as SubresourceDependencies),
    })),
    page: `${main.group}/${fileNameOf(definition.kind)}.md`,
  };
}

/** The kind's own type, types specific to other versions, and response types of subresources. */
function rootsOf(entry: KindEntry, standIns: StandIns): TypeName[] {
  const others = entry.definition.versions.slice(1).flatMap((version) => {
    const type = typeNameOf(version, entry.definition.kind);
    return differences(entry.type, type).flatMap(({ ref }) =>
      ref === undefined ? [] : [standIns.get(ref) ?? ref],
    );
  });
  return [...new Set([entry.type, ...others])].filter((name) => hasFields(schemaType(name)));
}

const all: readonly ResourceDefinition[] = [...definitions, ...metricsDefinitions];

export function readCatalogue(known: readonly ResourceDefinition[] = all): Catalogue {
  const table = new ResourceTable(known);
  const kinds = known.map((definition) => kindEntry(definition, table));
  const standIns = standInsOf(kinds);
  const roots = new Map<string, TypeName[]>();
  const taken = new Set<TypeName>();
  const add = (page: string, names: readonly TypeName[]) => {
    const fresh = names.filter((name) => !taken.has(name));
    for (const name of fresh) taken.add(name);
    if (fresh.length > 0) roots.set(page, [...(roots.get(page) ?? []), ...fresh]);
  };
  for (const [page, names] of Object.entries(ownPages)) add(page, names);
  for (const entry of kinds) add(entry.page, [entry.type]);
  for (const { served } of kinds) {
    for (const { kind, from } of served.flatMap(({ subresources }) => subresources)) {
      if (from) add(`types/${from.groupHead}.md`, [`${from.groupHead}/${from.version}.${kind}`]);
    }
  }
  share(roots, standIns);
  addOtherVersions(kinds, roots, standIns);
  const stops = new Set([...roots.values()].flat());
  const pages = new Map<string, Page>();
  const pageOf = new Map<TypeName, string>();
  for (const [path, names] of roots) {
    const types = reachedFrom(names, stops, standIns);
    pages.set(path, { path, types });
    for (const name of types) pageOf.set(name, path);
  }
  return { kinds, pages, pageOf, standIns };
}

/** Adds types of other versions without a counterpart in the main version. */
function addOtherVersions(
  kinds: readonly KindEntry[],
  roots: Map<string, TypeName[]>,
  standIns: StandIns,
): void {
  for (const entry of kinds) {
    const stops = new Set([...roots.values()].flat());
    const known = new Set(reachedFrom(roots.get(entry.page) ?? [], stops, standIns));
    const fresh = rootsOf(entry, standIns).filter((name) => !known.has(name) && !stops.has(name));
    roots.get(entry.page)?.push(...fresh);
  }
  share(roots, standIns);
}
