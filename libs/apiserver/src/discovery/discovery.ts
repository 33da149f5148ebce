/**
 * Discovery: the served groups, versions and resources, with their verbs. Computed when the served
 * resources or the registered servers change; every client gets the same bytes.
 */
import { createHash } from 'node:crypto';
import { codecFor, pathNotFound, wrapUnknown } from '@orch/apimachinery';
import { dialect, healthEndpoints } from '@orch/component';
import type { ResourceTable, ServedResource } from '@orch/registry';
import type { AggregatedApis } from '../aggregation/aggregated-apis.js';
import type { ApiResource } from '../aggregation/api-resource-list.js';
import type { ServerDocuments } from '../aggregation/server-documents.js';
import type { Subresource } from '../handlers/subresources.js';
import type { RequestContext } from '../http/request-context.js';
import { sendBody } from '../http/respond.js';
import { contentTypeOf, negotiate } from '../request/accept.js';
import { encodeValue } from '../response/encode-object.js';
import { sendDocument } from '../response/rendered-document.js';
import { AggregatedDiscovery, aggregatedVersion } from './aggregated-discovery.js';
import { discoveryGroups, type Group } from './discovery-groups.js';

export interface Document {
  readonly kind: string;
  readonly apiVersion?: string;
  readonly [member: string]: unknown;
}

export interface DiscoveryDependencies {
  readonly table: ResourceTable;
  readonly subresourcesOf: (served: ServedResource) => readonly Subresource[];
  readonly apis: AggregatedApis;
  readonly documents: ServerDocuments;
}

export class Discovery {
  private revision = '';
  private listed: readonly Group[] = [];
  private aggregatedRevision = '';
  private whole: AggregatedDiscovery | undefined;

  constructor(private readonly dependencies: DiscoveryDependencies) {}

  private get groups(): readonly Group[] {
    const { table, apis } = this.dependencies;
    const revision = `${table.revision} ${apis.revision}`;
    if (this.revision !== revision) {
      this.revision = revision;
      this.listed = discoveryGroups(table, apis);
    }
    return this.listed;
  }

  private get aggregated(): AggregatedDiscovery {
    const { groups } = this;
    const revision = `${this.revision} ${this.dependencies.documents.revision}`;
    if (!this.whole || this.aggregatedRevision !== revision) {
      this.aggregatedRevision = revision;
      this.whole = new AggregatedDiscovery(this.dependencies, groups);
    }
    return this.whole;
  }

  /**
   * `/api` or `/apis`: the aggregated document for clients that prefer it, else the list of
   * versions or groups.
   */
  sendRoot(context: RequestContext, place: 'api' | 'apis'): Promise<void> {
    const version = aggregatedVersion(context.request.headers.accept);
    if (version) return sendDocument(context, this.aggregated.document(place, version));
    this.send(context, place === 'api' ? this.versions() : this.groupList());
    return Promise.resolve();
  }

  private versions(): Document {
    return { kind: 'APIVersions', versions: ['v1'] };
  }

  private groupList(): Document {
    return { kind: 'APIGroupList', apiVersion: 'v1', groups: this.groups };
  }

  group(name: string): Document | undefined {
    const group = this.groups.find((candidate) => candidate.name === name);
    return group && { kind: 'APIGroup', apiVersion: 'v1', ...group };
  }

  /** Throws 404 for a version that a served group does not have. */
  resources(group: string, version: string): Document | undefined {
    const { table } = this.dependencies;
    const served = table.inGroupVersion(group, version);
    if (served.length === 0) {
      if (group !== '' && !table.hasBuiltInGroup(group)) return undefined;
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
    };
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

  send(context: RequestContext, document: Document): void {
    const representation = negotiate(context.request.headers.accept, {
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
    sendBody(context, 200, contentTypeOf(format), body);
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
      ...this.dependencies
        .subresourcesOf(served)
        .map((subresource) => subresourceEntry(served, subresource)),
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

/** Changes when the storage version of the resource changes. */
function storageVersionHash({ definition }: ServedResource): string {
  const { stored, kind, custom } = definition;
  const version = custom?.storageVersion ?? stored.version;
  const text = `${dialect().group(stored.group)}/${version}/${kind}`;
  return createHash('sha256').update(text).digest().subarray(0, 8).toString('base64');
}
