/**
 * What the server serves, asked for as far as a command needs it and kept for that command only. Finds
 * resource types by every name that people use: plural, singular, kind, short name, `type.group`,
 * `type.version.group`, and categories such as `all`.
 */
import {
  ApiError,
  type ApiObject,
  type ResourceRef,
  type RestClient,
  resources,
} from '@orch/client';
import { dialect } from '@orch/component';
import { CliError } from './errors.js';

export interface ResourceType extends ResourceRef<ApiObject> {
  /** As on the wire: empty for the core group. */
  readonly groupName: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly singularName: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

export interface GroupList {
  readonly groups?: readonly {
    readonly name: string;
    readonly versions: readonly { readonly version: string; readonly groupVersion?: string }[];
    readonly preferredVersion?: { readonly version: string };
  }[];
}

interface ResourceListBody {
  readonly resources?: readonly {
    readonly name: string;
    readonly singularName?: string;
    readonly namespaced: boolean;
    readonly kind: string;
    readonly verbs?: readonly string[];
    readonly shortNames?: readonly string[];
    readonly categories?: readonly string[];
  }[];
}

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

const core: GroupVersion = { group: '', version: 'v1' };

/** `deployments.apps`, `pods`: how a type is written without a version. */
export function qualifiedName(resource: ResourceType): string {
  return resource.groupName ? `${resource.plural}.${resource.groupName}` : resource.plural;
}

/** `deployment.apps`, `pod`: the start of `type/name`. */
export function singularTypeName(resource: ResourceType): string {
  const singular = resource.singularName || resource.kind.toLowerCase();
  return resource.groupName ? `${singular}.${resource.groupName}` : singular;
}

export function apiVersionOf(resource: ResourceType): string {
  return resource.groupName ? `${resource.groupName}/${resource.version}` : resource.version;
}

export class Catalog {
  private readonly lists = new Map<string, Promise<readonly ResourceType[]>>();
  private readonly unavailable: string[] = [];

  constructor(
    private readonly client: Pick<RestClient, 'request'>,
    private readonly groups: GroupList,
  ) {}

  /** The types that a name stands for: one, or all of a category. Throws when nothing is known by it. */
  async types(name: string): Promise<readonly ResourceType[]> {
    const found = await this.find(name);
    if (found) return [found];
    const members = (await this.preferred()).filter(
      (type) => type.categories.includes(name.toLowerCase()) && type.verbs.includes('list'),
    );
    if (members.length === 0) throw this.unknownType(name);
    return members;
  }

  /** The type with this name. Throws when there is none. */
  async type(name: string): Promise<ResourceType> {
    const found = await this.find(name);
    if (!found) throw this.unknownType(name);
    return found;
  }

  /** The type of an object by its own words. Throws when the server does not know it. */
  async kind(apiVersion: string, kind: string): Promise<ResourceType> {
    const slash = apiVersion.indexOf('/');
    const group = slash < 0 ? '' : apiVersion.slice(0, slash);
    const version = apiVersion.slice(slash + 1);
    const served = this.served().some((one) => one.group === group && one.version === version);
    const types = served ? await this.list({ group, version }) : [];
    const found = types.find((type) => type.kind === kind);
    if (found) return found;
    throw new CliError(`no matches for kind "${kind}" in version "${apiVersion}"`);
  }

  /** Every type in its group's preferred version, core first. */
  async preferred(): Promise<readonly ResourceType[]> {
    const lists = await Promise.all(
      this.preferredVersions().map((groupVersion) => this.list(groupVersion)),
    );
    return lists.flat();
  }

  /** `v1`, `apps/v1`, ...: everything served, in the server's order. */
  groupVersions(): string[] {
    return this.served().map(({ group, version }) => (group ? `${group}/${version}` : version));
  }

  private async find(name: string): Promise<ResourceType | undefined> {
    const lower = name.toLowerCase();
    const dot = lower.indexOf('.');
    if (dot > 0) {
      return this.findQualified(lower.slice(0, dot), lower.slice(dot + 1));
    }
    const inCore = match(await this.list(core), lower);
    if (inCore) return inCore;
    const hinted = this.hint(lower);
    const inHinted = hinted && match(await this.list(hinted), lower);
    return inHinted ?? match(await this.preferred(), lower);
  }

  /** `deployments.apps`, or `deployments.v1.apps`. */
  private async findQualified(name: string, rest: string): Promise<ResourceType | undefined> {
    const group = this.preferredVersions().find((one) => one.group === rest);
    const candidates = group
      ? [group]
      : this.served().filter(({ group, version }) => `${version}.${group}` === `${rest}`);
    for (const candidate of candidates) {
      const found = match(await this.list(candidate), name);
      if (found) return found;
    }
    return undefined;
  }

  /** Where a well-known type lives, to spare asking every group for it. */
  private hint(name: string): GroupVersion | undefined {
    const known = Object.values(resources).find(
      ({ plural, kind }) => plural === name || kind.toLowerCase() === name,
    );
    if (!known) return undefined;
    const group = dialect().group(known.group);
    return this.preferredVersions().find((one) => one.group === group);
  }

  private preferredVersions(): GroupVersion[] {
    const named = (this.groups.groups ?? []).map((group) => ({
      group: group.name,
      version: group.preferredVersion?.version ?? group.versions[0]?.version ?? '',
    }));
    return [core, ...named];
  }

  private served(): GroupVersion[] {
    const named = (this.groups.groups ?? []).flatMap((group) =>
      group.versions.map(({ version }) => ({ group: group.name, version })),
    );
    return [core, ...named];
  }

  private list(groupVersion: GroupVersion): Promise<readonly ResourceType[]> {
    const { group, version } = groupVersion;
    const path = group ? `/apis/${group}/${version}` : `/api/${version}`;
    let list = this.lists.get(path);
    if (!list) {
      list = this.fetch(path, groupVersion);
      this.lists.set(path, list);
    }
    return list;
  }

  private async fetch(path: string, { group, version }: GroupVersion): Promise<ResourceType[]> {
    let body: ResourceListBody;
    try {
      body = (await this.client.request('GET', path)).json<ResourceListBody>();
    } catch (error) {
      // An aggregated group that is down must not hide the others; it is named when a type is missed.
      if (!(error instanceof ApiError)) throw error;
      this.unavailable.push(`${group}/${version}`);
      return [];
    }
    return (body.resources ?? [])
      .filter((resource) => !resource.name.includes('/'))
      .map((resource) => ({
        group: dialect().groupHead(group),
        groupName: group,
        version,
        plural: resource.name,
        kind: resource.kind,
        namespaced: resource.namespaced,
        verbs: resource.verbs ?? [],
        singularName: resource.singularName ?? '',
        shortNames: resource.shortNames ?? [],
        categories: resource.categories ?? [],
      }));
  }

  private unknownType(name: string): CliError {
    const missing =
      this.unavailable.length > 0 ? ` (not answering: ${this.unavailable.join(', ')})` : '';
    return new CliError(`the server doesn't have a resource type "${name}"${missing}`);
  }
}

function match(types: readonly ResourceType[], name: string): ResourceType | undefined {
  return (
    types.find((type) => type.plural === name || type.singularName === name) ??
    types.find((type) => type.kind.toLowerCase() === name) ??
    types.find((type) => type.shortNames.includes(name))
  );
}
