/**
 * All served resources by group, version and plural; the source of discovery. Built-in resources
 * are permanent, custom ones follow their definitions.
 */
import type { CustomKind, ResourceDefinition, ServedVersion } from '@orch/api';
import { FeatureGates, type Features } from '@orch/component';
import { Resource, ServedResource } from './resource.js';
import type { RuntimeConfig } from './runtime-config.js';

/** A custom resource in all its versions. */
interface CustomEntry {
  readonly all: readonly ServedResource[];
  readonly served: readonly ServedResource[];
}

export class ResourceTable {
  private readonly builtIn: readonly Resource[];
  private readonly builtInServed: readonly ServedResource[];
  /** By the name of the definition. */
  private readonly custom = new Map<string, CustomEntry>();
  private readonly byPath = new Map<string, ServedResource>();
  /** By resource; served or not. */
  private readonly asStored = new Map<Resource, ServedResource>();
  private readonly byStoredPath = new Map<string, Resource>();
  private readonly groupVersions = new Map<string, ServedResource[]>();
  private allServed: readonly ServedResource[] | undefined;
  private changes = 0;

  /**
   * `config` says which of them clients may see; everything when absent. `features`: the defaults
   * of the release when absent.
   */
  constructor(
    definitions: readonly ResourceDefinition[],
    config?: RuntimeConfig,
    readonly features: Features = new FeatureGates('apiserver'),
  ) {
    this.builtIn = definitions.map((definition) => new Resource(definition));
    const served: ServedResource[] = [];
    for (const resource of this.builtIn) {
      this.byStoredPath.set(resource.keyPrefix, resource);
      for (const version of resource.definition.versions) {
        const entry = this.newVersion(resource, version);
        if (config && !config.serves(resource.definition, version)) continue;
        served.push(entry);
        resource.versions.set(entry.apiVersion, entry);
        this.serve(entry);
      }
    }
    this.builtInServed = served;
  }

  /** Every stored kind once; custom ones in the version in which they are stored. */
  get resources(): readonly Resource[] {
    const custom = [...this.custom.values()].flatMap(({ all }) =>
      all.filter(isStorageVersion).map(({ resource }) => resource),
    );
    return [...this.builtIn, ...custom];
  }

  /**
   * In the order of the definitions, each definition's versions in its own order; custom ones by
   * name.
   */
  get served(): readonly ServedResource[] {
    this.allServed ??= [
      ...this.builtInServed,
      ...[...this.custom].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, { served }]) => served),
    ];
    return this.allServed;
  }

  /** Increases with every change of the served resources. */
  get revision(): number {
    return this.changes;
  }

  /** Serves the kind of a definition, replacing its previous form. */
  setCustom(kind: CustomKind): void {
    this.dropCustom(kind.name);
    const served: ServedResource[] = [];
    const all = kind.versions.map(({ definition, isServed }) => {
      const resource = new Resource(definition);
      const entry = this.newVersion(resource, definition.versions[0]!);
      if (isServed && !this.byPath.has(pathOf(entry))) served.push(entry);
      return entry;
    });
    for (const { resource } of all) {
      for (const sibling of all) resource.versions.set(sibling.apiVersion, sibling);
    }
    for (const entry of all) {
      if (isStorageVersion(entry)) this.byStoredPath.set(entry.resource.keyPrefix, entry.resource);
    }
    for (const entry of served) this.serve(entry);
    this.custom.set(kind.name, { all, served });
    this.changed();
  }

  /** The served resources of the definition. */
  dropCustom(name: string): readonly ServedResource[] {
    const entry = this.custom.get(name);
    if (!entry) return [];
    this.custom.delete(name);
    for (const { resource } of entry.all) {
      this.asStored.delete(resource);
      if (this.byStoredPath.get(resource.keyPrefix) === resource) {
        this.byStoredPath.delete(resource.keyPrefix);
      }
    }
    for (const served of entry.served) {
      this.byPath.delete(pathOf(served));
      const key = `${served.group}/${served.version}`;
      const left = this.inGroupVersion(served.group, served.version).filter(
        (one) => one !== served,
      );
      if (left.length > 0) this.groupVersions.set(key, left);
      else this.groupVersions.delete(key);
    }
    this.changed();
    return entry.served;
  }

  /**
   * The form in which the objects of a definition are stored, whether clients are served it or not.
   */
  customInStorage(name: string): ServedResource | undefined {
    return this.custom.get(name)?.all.find(isStorageVersion);
  }

  find(group: string, version: string, plural: string): ServedResource | undefined {
    return this.byPath.get(pathKey(group, version, plural));
  }

  /** By the head of the storing group and the plural, such as `core`, `pods`. */
  stored(groupHead: string, plural: string): Resource | undefined {
    return this.byStoredPath.get(`${groupHead}/${plural}/`);
  }

  /** By the prefix of its keys, such as `core/pods/`. */
  storedUnder(keyPrefix: string): Resource | undefined {
    return this.byStoredPath.get(keyPrefix);
  }

  /**
   * The form in the stored version, which the server itself writes, whether clients are served it
   * or not.
   */
  inStoredVersion(groupHead: string, plural: string): ServedResource | undefined {
    const resource = this.stored(groupHead, plural);
    return resource && this.asStored.get(resource);
  }

  hasGroup(group: string): boolean {
    return this.served.some((entry) => entry.group === group);
  }

  /** Some kind of the group is built in. */
  hasBuiltInGroup(group: string): boolean {
    return this.builtInServed.some((entry) => entry.group === group);
  }

  /** Empty when the group has no such version. */
  inGroupVersion(group: string, version: string): readonly ServedResource[] {
    return this.groupVersions.get(`${group}/${version}`) ?? [];
  }

  private newVersion(resource: Resource, version: ServedVersion): ServedResource {
    const entry = new ServedResource(resource, version, this.features);
    if (entry.apiVersion === resource.storedApiVersion) this.asStored.set(resource, entry);
    return entry;
  }

  private serve(entry: ServedResource): void {
    this.byPath.set(pathOf(entry), entry);
    const groupVersion = `${entry.group}/${entry.version}`;
    const siblings = this.groupVersions.get(groupVersion);
    if (siblings) siblings.push(entry);
    else this.groupVersions.set(groupVersion, [entry]);
  }

  private changed(): void {
    this.allServed = undefined;
    this.changes += 1;
  }
}

function isStorageVersion({ definition, version }: ServedResource): boolean {
  return definition.custom?.storageVersion === version;
}

function pathOf({ group, version, definition }: ServedResource): string {
  return pathKey(group, version, definition.plural);
}

function pathKey(group: string, version: string, plural: string): string {
  return `${group}/${version}/${plural}`;
}
