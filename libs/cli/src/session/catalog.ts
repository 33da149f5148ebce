/**
 * The resource types of the server. Discovers groups on demand and caches them for one command.
 * Finds types by plural, singular, kind, short name, `type.group`, `type.version.group`, and
 * categories such as `all`.
 */
import {
  type ApiClient,
  ApiError,
  type ApiObject,
  type ResourceRef,
  resources,
} from '@orch/client';
import { dialect } from '@orch/component';
import { CliError } from '../command-line/errors.js';

export interface ResourceType extends ResourceRef<ApiObject> {
  /** The group in API requests. Empty for the core group. */
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

/** The name of a type without a version: `deployments.apps`, `pods`. */
export function qualifiedName(resource: ResourceType): string {
  return resource.groupName ? `${resource.plural}.${resource.groupName}` : resource.plural;
}

/** The type in `type/name`: `deployment.apps`, `pod`. */
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
    private readonly client: Pick<ApiClient, 'request'>,
    private readonly groups: GroupList,
  ) {}

  /** The type with a name, or all types of a category. Throws CliError if there is none. */
  async types(name: string): Promise<readonly ResourceType[]> {
    const found = await this.find(name);
    if (found) return [found];
    const members = (await this.preferred()).filter(
      (type) => type.categories.includes(name.toLowerCase()) && type.verbs.includes('list'),
    );
    if (members.length === 0) throw this.unknownType(name);
    return members;
  }

  /** The type with a name. Throws CliError if there is none. */
  async type(name: string): Promise<ResourceType> {
    const found = await this.find(name);
    if (!found) throw this.unknownType(name);
    return found;
  }

  /**
   * The type of an object by its `apiVersion` and `kind`. Throws CliError if the server does not
   * serve it.
   */
  async kind(apiVersion: string, kind: string): Promise<ResourceType> {
    const slash = apiVersion.indexOf('/');
    const group = slash < 0 ? '' : apiVersion.slice(0, slash);
    const version = apiVersion.slice(slash + 1);
    const isServed = this.served().some(
      (served) => served.group === group && served.version === version,
    );
    const types = isServed ? await this.list({ group, version }) : [];
    const found = types.find((type) => type.kind === kind);
    if (found) return found;
    throw new CliError(`no matches for kind "${kind}" in version "${apiVersion}"`);
  }

  /** Every type once, in the preferred version of its group if that has it; core first. */
  async preferred(): Promise<readonly ResourceType[]> {
    const groups = await Promise.all(
      this.versionsByGroup().map(async (versions) => {
        const types = await this.typesIn(versions);
        const plurals = types.map(({ plural }) => plural);
        return types.filter(({ plural }, index) => plurals.indexOf(plural) === index);
      }),
    );
    return groups.flat();
  }

  /** All served group versions, such as `v1` and `apps/v1`, in the order of the server. */
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
    if (inHinted) return inHinted;
    const inPreferred = match(await this.typesIn(this.preferredVersions()), lower);
    return inPreferred ?? match(await this.preferred(), lower);
  }

  /** Finds `deployments.apps` or `deployments.v1.apps`. */
  private async findQualified(name: string, rest: string): Promise<ResourceType | undefined> {
    const candidates =
      this.versionsByGroup().find(([{ group }]) => group === rest) ??
      this.served().filter(({ group, version }) => `${version}.${group}` === rest);
    for (const candidate of candidates) {
      const found = match(await this.list(candidate), name);
      if (found) return found;
    }
    return undefined;
  }

  /** The group version of a well-known type, which saves the discovery of every group. */
  private hint(name: string): GroupVersion | undefined {
    const known = Object.values(resources).find(
      ({ plural, kind }) => plural === name || kind.toLowerCase() === name,
    );
    if (!known) return undefined;
    const group = dialect().group(known.group);
    return this.preferredVersions().find((candidate) => candidate.group === group);
  }

  private preferredVersions(): GroupVersion[] {
    return this.versionsByGroup().map(([preferred]) => preferred);
  }

  /** The versions of each group, the preferred one first. */
  private versionsByGroup(): [GroupVersion, ...GroupVersion[]][] {
    const named = (this.groups.groups ?? []).map(
      ({ name: group, versions, preferredVersion }): [GroupVersion, ...GroupVersion[]] => {
        const preferred = preferredVersion?.version ?? versions[0]?.version ?? '';
        const others = versions.filter(({ version }) => version !== preferred);
        return [
          { group, version: preferred },
          ...others.map(({ version }) => ({ group, version })),
        ];
      },
    );
    return [[core], ...named];
  }

  private async typesIn(versions: readonly GroupVersion[]): Promise<readonly ResourceType[]> {
    return (await Promise.all(versions.map((version) => this.list(version)))).flat();
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
      // An aggregated group that is down must not hide the others. It is named in the error about
      // an unknown type.
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
      this.unavailable.length > 0 ? ` (unavailable groups: ${this.unavailable.join(', ')})` : '';
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
