/**
 * Discovery: which groups, versions and resources are served and what can be done with them. Made from
 * the served resources when those have changed; answers are the same bytes for everyone.
 */
import { createHash } from 'node:crypto';
import { compareVersions } from '@orch/api';
import { codecFor, pathNotFound, wrapUnknown } from '@orch/apimachinery';
import { dialect, healthEndpoints } from '@orch/component';
import type { Subresource } from '../handlers/subresources.js';
import type { ServedResource } from '../registry/resource.js';
import type { ResourceTable } from '../registry/resource-table.js';
import { contentTypeOf, negotiate } from '../request/media-types.js';
import { encodeValue } from '../response/encode-object.js';
import { type Exchange, sendBody } from '../response/exchange.js';
import { sendDocument } from '../response/rendered-document.js';
import { AggregatedDiscovery, aggregatedVersion } from './aggregated-discovery.js';
import { groupOrder, versionOrder } from './group-order.js';

interface GroupVersion {
  readonly groupVersion: string;
  readonly version: string;
}

interface Group {
  readonly name: string;
  readonly versions: readonly GroupVersion[];
  readonly preferredVersion: GroupVersion;
}

interface ApiResource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly group?: string;
  readonly version?: string;
  readonly kind: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly storageVersionHash?: string;
}

export interface Document {
  readonly kind: string;
  readonly apiVersion?: string;
}

export class Discovery {
  private madeAt = -1;
  private listed: readonly Group[] = [];
  private whole: AggregatedDiscovery | undefined;

  constructor(
    private readonly table: ResourceTable,
    private readonly subresourcesOf: (served: ServedResource) => readonly Subresource[],
  ) {}

  private get groups(): readonly Group[] {
    if (this.madeAt !== this.table.revision) {
      this.madeAt = this.table.revision;
      this.listed = groupsOf(this.table);
      this.whole = undefined;
    }
    return this.listed;
  }

  private get aggregated(): AggregatedDiscovery {
    const { groups } = this;
    this.whole ??= new AggregatedDiscovery(this.table, groups, this.subresourcesOf);
    return this.whole;
  }

  /** `/api` or `/apis`: everything at once for clients that want it, else what is directly below. */
  sendRoot(exchange: Exchange, place: 'api' | 'apis'): Promise<void> {
    const version = aggregatedVersion(exchange.request.headers.accept);
    if (version) return sendDocument(exchange, this.aggregated.document(place, version));
    this.send(exchange, place === 'api' ? this.versions() : this.groupList());
    return Promise.resolve();
  }

  private versions(): Document {
    return { kind: 'APIVersions', versions: ['v1'] } as Document;
  }

  private groupList(): Document {
    return { kind: 'APIGroupList', apiVersion: 'v1', groups: this.groups } as Document;
  }

  group(name: string): Document | undefined {
    const group = this.groups.find((candidate) => candidate.name === name);
    return group && ({ kind: 'APIGroup', apiVersion: 'v1', ...group } as Document);
  }

  /** Throws 404 for a version that a served group does not have. */
  resources(group: string, version: string): Document | undefined {
    const served = this.table.inGroupVersion(group, version);
    if (served.length === 0) {
      if (group !== '' && !this.table.hasBuiltInGroup(group)) return undefined;
      throw pathNotFound();
    }
    // Subresources of custom resources keep their order below the resource.
    const resources = served
      .map((entry) => ({ name: entry.definition.plural, entries: this.resourceEntries(entry) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap(({ entries }) => entries);
    return {
      kind: 'APIResourceList',
      ...(group !== '' && { apiVersion: 'v1' }),
      groupVersion: group === '' ? version : `${group}/${version}`,
      resources,
    } as Document;
  }

  /** The index of paths that `/` shows. */
  paths(): string[] {
    return [
      '/api',
      '/api/v1',
      '/apis',
      ...this.groups.flatMap((group) => [
        `/apis/${group.name}`,
        ...group.versions.map(({ groupVersion }) => `/apis/${groupVersion}`),
      ]),
      ...healthEndpoints.map((endpoint) => `/${endpoint}`),
      '/metrics',
      '/openapi/v2',
      '/openapi/v3',
      '/version',
    ].sort();
  }

  send(exchange: Exchange, document: Document): void {
    const representation = negotiate(exchange.request.headers.accept, {
      views: false,
      stream: false,
    });
    const { format } = representation;
    const body =
      format === 'protobuf'
        ? wrapUnknown(
            document.apiVersion ?? '',
            document.kind,
            codecFor<Document>(`meta/v1.${document.kind}`).toProtobuf(document),
          )
        : encodeValue(document, representation);
    sendBody(exchange, 200, contentTypeOf(format), body);
  }

  private resourceEntries(served: ServedResource): ApiResource[] {
    const { definition } = served;
    const { plural, singular, namespaced, kind, shortNames, categories } = definition;
    return [
      {
        name: plural,
        singularName: singular,
        namespaced,
        kind,
        verbs: [...served.resource.verbs],
        ...(shortNames && { shortNames }),
        ...(categories && { categories }),
        ...(!definition.virtual &&
          served.features.enabled('StorageVersionHash') && {
            storageVersionHash: storageVersionHash(served),
          }),
      },
      ...this.subresourcesOf(served).map((subresource) => subresourceEntry(served, subresource)),
    ];
  }
}

function subresourceEntry({ definition }: ServedResource, subresource: Subresource): ApiResource {
  const { from } = subresource;
  return {
    name: `${definition.plural}/${subresource.name}`,
    singularName: '',
    namespaced: definition.namespaced,
    ...(from && { group: dialect().group(from.groupHead), version: from.version }),
    kind: subresource.kind,
    verbs: subresource.verbs,
  };
}

/** Changes when objects begin to be stored in another version. */
function storageVersionHash({ definition }: ServedResource): string {
  const { stored, kind, custom } = definition;
  const version = custom?.storageVersion ?? stored.version;
  const text = `${dialect().group(stored.group)}/${version}/${kind}`;
  return createHash('sha256').update(text).digest().subarray(0, 8).toString('base64');
}

function groupsOf(table: ResourceTable): Group[] {
  const versionsByGroup = new Map<string, Set<string>>();
  const heads = new Map<string, string>();
  for (const { group, version, served } of table.served) {
    if (group === '') continue;
    heads.set(group, served.group);
    const versions = versionsByGroup.get(group);
    if (versions) versions.add(version);
    else versionsByGroup.set(group, new Set([version]));
  }
  const rank = (group: string) => {
    const at = groupOrder.indexOf(heads.get(group) ?? '');
    return at < 0 ? groupOrder.length : at;
  };
  return [...versionsByGroup]
    .sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .map(([name, versions]) => {
      const own = versionOrder[heads.get(name) ?? ''];
      const order = own
        ? (a: string, b: string) => own.indexOf(a) - own.indexOf(b)
        : compareVersions;
      const sorted = [...versions].sort(order).map((version) => ({
        groupVersion: `${name}/${version}`,
        version,
      }));
      return { name, versions: sorted, preferredVersion: sorted[0]! };
    });
}
