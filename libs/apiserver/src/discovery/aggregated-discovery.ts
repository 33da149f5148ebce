/**
 * Everything that can be discovered in two documents, `/api` for the core group and `/apis` for all others,
 * as clients of later releases ask for it: by media type, before the separate documents, which they fall
 * back to. Not offered as protobuf.
 */
import { dialect } from '@orch/component';
import type { Subresource } from '../handlers/subresources.js';
import type { ServedResource } from '../registry/resource.js';
import type { ResourceTable } from '../registry/resource-table.js';
import { RenderedDocument } from '../response/rendered-document.js';

const versions = ['v2', 'v2beta1'] as const;
type Version = (typeof versions)[number];
const kind = 'APIGroupDiscoveryList';

interface GroupOrder {
  readonly name: string;
  readonly versions: readonly { readonly version: string }[];
}

/** The version of the document that `accept` wants before anything else; undefined when it wants none. */
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

export class AggregatedDiscovery {
  private readonly documents = new Map<string, RenderedDocument>();

  /** `groups`: the named ones, in the order in which they are shown. */
  constructor(
    private readonly table: ResourceTable,
    private readonly groups: readonly GroupOrder[],
    private readonly subresourcesOf: (served: ServedResource) => readonly Subresource[],
  ) {}

  /** Of `/api` or of `/apis`. */
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
        : [{ name: '', versions: [{ version: 'v1' }] }].filter(() => this.table.hasGroup(''));
    const items = groups.map(({ name, versions: served }) => ({
      metadata: { ...(name !== '' && { name }), creationTimestamp: null },
      versions: served.map((one) => ({
        version: one.version,
        resources: this.table
          .inGroupVersion(name, one.version)
          .map((resource) => this.resource(resource))
          .sort((a, b) => (a.resource < b.resource ? -1 : 1)),
        freshness: 'Current',
      })),
    }));
    const list = { kind, apiVersion: `${group()}/${version}`, metadata: {}, items };
    return new RenderedDocument(
      Buffer.from(`${JSON.stringify(list)}\n`),
      `application/json;g=${group()};v=${version};as=${kind}`,
    );
  }

  private resource(served: ServedResource) {
    const {
      plural,
      singular,
      kind: kindName,
      namespaced,
      shortNames,
      categories,
    } = served.definition;
    const subresources = this.subresourcesOf(served).map((subresource) =>
      subresourceEntry(served, subresource),
    );
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

function subresourceEntry(served: ServedResource, { name, kind, from, verbs }: Subresource) {
  return {
    subresource: name,
    responseKind: from
      ? kindOf(dialect().group(from.groupHead), from.version, kind)
      : kindOf(served.group, served.version, kind),
    verbs,
  };
}

function kindOf(group: string, version: string, kind: string) {
  return { group, version, kind };
}
