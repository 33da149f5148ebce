/**
 * Aggregated discovery: two documents, `/api` for the core group and `/apis` for all others.
 * Clients of later releases request them by media type and fall back to the separate documents. Not
 * offered as protobuf.
 */
import { dialect } from '@orch/component';
import type { ResourceTable, ServedResource } from '@orch/registry';
import type { AggregatedApis } from '../aggregation/aggregated-apis.js';
import type { ApiResource } from '../aggregation/api-resource-list.js';
import type { ServerDocuments } from '../aggregation/server-documents.js';
import type { Subresource } from '../handlers/subresources.js';
import { RenderedDocument } from '../response/rendered-document.js';

const versions = ['v2', 'v2beta1'] as const;
type Version = (typeof versions)[number];
const kind = 'APIGroupDiscoveryList';

interface GroupOrder {
  readonly name: string;
  readonly versions: readonly { readonly version: string }[];
}

/**
 * The version of the document that `accept` prefers to every other format; undefined if it prefers
 * another format.
 */
export function aggregatedVersion(accept: string | undefined): Version | undefined {
  const first = accept?.split(',', 1)[0] ?? '';
  const [type, ...parameters] = first.split(';').map((part) => part.trim());
  if (type !== 'application/json') return undefined;
  if (!parameters.includes(`g=${group()}`) || !parameters.includes(`as=${kind}`)) return undefined;
  return versions.find((version) => parameters.includes(`v=${version}`));
}

function group(): string {
  return `apidiscovery.${dialect().groupDomain}`;
}

export interface AggregatedDiscoveryDependencies {
  readonly table: ResourceTable;
  readonly subresourcesOf: (served: ServedResource) => readonly Subresource[];
  readonly apis: Pick<AggregatedApis, 'serverOf'>;
  readonly documents: Pick<ServerDocuments, 'of'>;
}

export class AggregatedDiscovery {
  private readonly documents = new Map<string, RenderedDocument>();

  /** `groups`: the named ones, in their listed order. */
  constructor(
    private readonly dependencies: AggregatedDiscoveryDependencies,
    private readonly groups: readonly GroupOrder[],
  ) {}

  /** The document of `/api` or of `/apis`. */
  document(place: 'api' | 'apis', version: Version): RenderedDocument {
    const key = `${place} ${version}`;
    let document = this.documents.get(key);
    if (!document) {
      document = this.render(place, version);
      this.documents.set(key, document);
    }
    return document;
  }

  private render(place: 'api' | 'apis', version: Version): RenderedDocument {
    const groups =
      place === 'apis'
        ? this.groups
        : [{ name: '', versions: [{ version: 'v1' }] }].filter(() =>
            this.dependencies.table.hasGroup(''),
          );
    const items = groups.map(({ name, versions: served }) => ({
      metadata: { ...(name !== '' && { name }), creationTimestamp: null },
      versions: served.map((one) => this.version(name, one.version)),
    }));
    const list = { kind, apiVersion: `${group()}/${version}`, metadata: {}, items };
    return new RenderedDocument(
      Buffer.from(`${JSON.stringify(list)}\n`),
      `application/json;g=${group()};v=${version};as=${kind}`,
    );
  }

  /** The resources of another server are those of its own document, which may be outdated. */
  private version(group: string, version: string) {
    const { table, apis, documents } = this.dependencies;
    const server = apis.serverOf(group, version);
    const resources = server
      ? foreignEntries(group, version, documents.of(server)?.resources ?? [])
      : table.inGroupVersion(group, version).map((resource) => this.resource(resource));
    const isStale = server !== undefined && !documents.of(server)?.isCurrent;
    return {
      version,
      resources: resources.sort((a, b) => (a.resource < b.resource ? -1 : 1)),
      freshness: isStale ? 'Stale' : 'Current',
    };
  }

  private resource(served: ServedResource): ResourceEntry {
    const {
      plural,
      singular,
      kind: kindName,
      namespaced,
      shortNames,
      categories,
    } = served.definition;
    const subresources = this.dependencies
      .subresourcesOf(served)
      .map((subresource) => subresourceEntry(served, subresource));
    return {
      resource: plural,
      responseKind: kindOf(served.group, served.version, kindName),
      scope: namespaced ? 'Namespaced' : 'Cluster',
      // Empty in the separate documents of this release, never in this one.
      singularResource: singular || kindName.toLowerCase(),
      verbs: [...served.resource.verbs],
      ...(shortNames && { shortNames }),
      ...(categories && { categories }),
      ...(subresources.length > 0 && { subresources }),
    };
  }
}

interface KindReference {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

interface SubresourceEntry {
  readonly subresource: string;
  readonly responseKind: KindReference;
  readonly verbs: readonly string[];
}

interface ResourceEntry {
  readonly resource: string;
  readonly responseKind: KindReference;
  readonly scope: 'Namespaced' | 'Cluster';
  readonly singularResource: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly SubresourceEntry[];
}

/** The resources of another server, with their subresources. */
function foreignEntries(
  group: string,
  version: string,
  listed: readonly ApiResource[],
): ResourceEntry[] {
  const kindOfEntry = (entry: ApiResource) =>
    kindOf(entry.group || group, entry.version || version, entry.kind);
  return listed
    .filter(({ name }) => !name.includes('/'))
    .map((entry) => {
      const { name, singularName, kind, namespaced, verbs, shortNames, categories } = entry;
      const subresources = listed
        .filter((candidate) => candidate.name.startsWith(`${name}/`))
        .map((below) => ({
          subresource: below.name.slice(name.length + 1),
          responseKind: kindOfEntry(below),
          verbs: below.verbs,
        }));
      return {
        resource: name,
        responseKind: kindOfEntry(entry),
        scope: namespaced ? 'Namespaced' : 'Cluster',
        singularResource: singularName || kind.toLowerCase(),
        verbs,
        ...(shortNames && { shortNames }),
        ...(categories && { categories }),
        ...(subresources.length > 0 && { subresources }),
      };
    });
}

function subresourceEntry(served: ServedResource, { name, kind, from, verbs }: Subresource) {
  return {
    subresource: name,
    responseKind: from
      ? kindOf(dialect().group(from.groupHead), from.version, kind)
      : kindOf(served.group, served.version, kind),
    verbs,
  };
}

function kindOf(group: string, version: string, kind: string): KindReference {
  return { group, version, kind };
}
