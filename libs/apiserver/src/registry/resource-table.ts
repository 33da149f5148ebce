/** All served resources, found by group, version and plural; the source of discovery. */
import type { ResourceDefinition } from '@orch/api';
import { FeatureGates, type Features } from '@orch/component';
import { Resource, ServedResource } from './resource.js';
import type { RuntimeConfig } from './runtime-config.js';

export class ResourceTable {
  readonly resources: readonly Resource[];
  /** In the order of the definitions, each definition's versions in its own order. */
  readonly served: readonly ServedResource[];
  private readonly byPath = new Map<string, ServedResource>();
  /** By resource; served or not. */
  private readonly asStored = new Map<Resource, ServedResource>();
  private readonly byStoredPath = new Map<string, Resource>();
  private readonly groupVersions = new Map<string, ServedResource[]>();

  /**
   * `config` says which of them clients may see; everything when absent. `features`: the defaults of the
   * release when absent.
   */
  constructor(
    definitions: readonly ResourceDefinition[],
    config?: RuntimeConfig,
    readonly features: Features = new FeatureGates('apiserver'),
  ) {
    this.resources = definitions.map((definition) => new Resource(definition));
    const served: ServedResource[] = [];
    for (const resource of this.resources) {
      this.byStoredPath.set(resource.keyPrefix, resource);
      for (const version of resource.definition.versions) {
        const entry = new ServedResource(resource, version, features);
        if (entry.apiVersion === resource.storedApiVersion) this.asStored.set(resource, entry);
        if (config && !config.serves(resource.definition, version)) continue;
        served.push(entry);
        resource.versions.set(entry.apiVersion, entry);
        this.byPath.set(pathKey(entry.group, entry.version, resource.definition.plural), entry);
        const groupVersion = `${entry.group}/${entry.version}`;
        const siblings = this.groupVersions.get(groupVersion);
        if (siblings) siblings.push(entry);
        else this.groupVersions.set(groupVersion, [entry]);
      }
    }
    this.served = served;
  }

  find(group: string, version: string, plural: string): ServedResource | undefined {
    return this.byPath.get(pathKey(group, version, plural));
  }

  /** By the head of the storing group and the plural, such as `core`, `pods`. */
  stored(groupHead: string, plural: string): Resource | undefined {
    return this.byStoredPath.get(`${groupHead}/${plural}/`);
  }

  /** The form in the stored version, which the server itself writes, whether clients are served it or not. */
  inStoredVersion(groupHead: string, plural: string): ServedResource | undefined {
    const resource = this.stored(groupHead, plural);
    return resource && this.asStored.get(resource);
  }

  hasGroup(group: string): boolean {
    return this.served.some((entry) => entry.group === group);
  }

  /** Empty when the group has no such version. */
  inGroupVersion(group: string, version: string): readonly ServedResource[] {
    return this.groupVersions.get(`${group}/${version}`) ?? [];
  }
}

function pathKey(group: string, version: string, plural: string): string {
  return `${group}/${version}/${plural}`;
}
