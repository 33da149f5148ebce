/**
 * The OpenAPI documents of this server and of the aggregated ones. Each is rendered at the first
 * request and cached until its resources change; a change of one group does not invalidate the
 * documents of the others. Failures are not cached.
 */
import type { Clock } from '@orch/component';
import type { ResourceTable, ServedResource } from '@orch/registry';
import type { AggregatedApis } from '../aggregation/aggregated-apis.js';
import type { AggregatedServer } from '../aggregation/aggregated-server.js';
import type { ServerDocuments } from '../aggregation/server-documents.js';
import type { Subresource } from '../handlers/subresources.js';
import type { RenderedDocument } from '../response/rendered-document.js';
import { inSlices } from '../response/sliced.js';
import { convertToVersion3 } from './convert-to-version3.js';
import { type Contents, documentPieces, type Piece } from './document.js';
import { jsonOfVersion2, jsonOfVersion3 } from './json-document.js';
import { type ForeignDocument, mergedPieces } from './merged-pieces.js';
import { protobufFrame, protobufPiece } from './protobuf-document.js';
import { renderDocument } from './rendered.js';
import type { GroupVersion } from './schema-types.js';

export const documentFormats = ['json', 'protobuf'] as const;
export type DocumentFormat = (typeof documentFormats)[number];

/** The content type of responses: the name without `@`, which media types must not contain. */
const protobufContentType = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const jsonContentType = 'application/json';
/** The content type of version 2 as JSON, as in the interface. */
const wholeJsonContentType = 'text/plain; charset=utf-8';

export interface OpenApiDocumentsDependencies {
  readonly table: ResourceTable;
  readonly subresourcesOf: (served: ServedResource) => readonly Subresource[];
  readonly apis: Pick<AggregatedApis, 'revision' | 'servers' | 'serverOf'>;
  readonly documents: Pick<ServerDocuments, 'revision' | 'of'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

export class OpenApiDocuments {
  private revision = '';
  private groupVersions: readonly GroupVersion[] = [];
  private served = new Map<string, ServedResource[]>();
  /** The documents of other servers, by place. */
  private foreign = new Map<string, { readonly server: AggregatedServer; readonly hash: string }>();
  private readonly documents = new Map<string, Promise<RenderedDocument>>();

  constructor(private readonly dependencies: OpenApiDocumentsDependencies) {}

  /** Reads the served resources again and drops outdated documents. */
  private refresh(): void {
    const { table, apis, documents } = this.dependencies;
    const revision = `${table.revision} ${apis.revision} ${documents.revision}`;
    if (this.revision === revision) return;
    this.revision = revision;
    const before = this.served;
    this.served = new Map();
    for (const one of table.served) {
      if (apis.serverOf(one.group, one.version)) continue;
      const place = `${one.group === '' ? 'api' : 'apis'}/${one.apiVersion}`;
      const siblings = this.served.get(place);
      if (siblings) siblings.push(one);
      else this.served.set(place, [one]);
    }
    // Kinds of all groups are described together with the built-in ones.
    this.groupVersions = [...this.served.values()]
      .filter(([first]) => !first!.definition.custom)
      .map(([first]) => ({ group: first!.group, version: first!.version }));
    for (const place of before.keys()) {
      if (!sameServed(before.get(place), this.served.get(place))) {
        this.documents.delete(`3 ${place}`);
      }
    }
    for (const key of ['2 json', '2 protobuf', '3']) this.documents.delete(key);
    this.refreshForeign();
  }

  private refreshForeign(): void {
    const before = this.foreign;
    const { apis, documents } = this.dependencies;
    this.foreign = new Map();
    for (const server of apis.servers) {
      const { openApi2, openApi3 } = documents.of(server) ?? {};
      const document = openApi3 ?? openApi2;
      if (!document) continue;
      const place = server.discoveryPath.slice(1);
      this.foreign.set(place, { server, hash: document.hash });
    }
    for (const [place, { hash }] of before) {
      if (this.foreign.get(place)?.hash !== hash) this.documents.delete(`3 ${place}`);
    }
  }

  /** The whole API in one document, version 2. */
  whole(format: DocumentFormat): Promise<RenderedDocument> {
    this.refresh();
    return this.cached(`2 ${format}`, async () => {
      const pieces = await this.wholePieces();
      return format === 'json'
        ? renderDocument(jsonOfVersion2(pieces), wholeJsonContentType, this.nowMs)
        : renderDocument(protobufOfVersion2(pieces), protobufContentType, this.nowMs);
    });
  }

  private async wholePieces(): Promise<Iterable<Piece>> {
    const { apis, documents } = this.dependencies;
    const pieces = documentPieces(2, this.contents([...this.served.values()].flat()));
    const foreign = apis.servers.flatMap((server): ForeignDocument[] => {
      const document = documents.of(server)?.openApi2;
      return document ? [{ group: server.group, value: document.value }] : [];
    });
    if (foreign.length === 0) return pieces;
    const own: Piece[] = [];
    await inSlices(pieces, (piece) => own.push(piece), this.nowMs);
    return mergedPieces(own, foreign);
  }

  /** The index of the documents of group versions, version 3. */
  index(): Promise<RenderedDocument> {
    this.refresh();
    return this.cached('3', async () => {
      const paths: Record<string, { serverRelativeURL: string }> = {};
      for (const place of [...this.served.keys(), ...this.foreign.keys()]) {
        const document = await this.ofGroupVersion(place);
        if (!document) continue;
        const { hash } = document;
        paths[place] = { serverRelativeURL: urlOf(place, hash) };
      }
      return renderDocument([JSON.stringify({ paths })], jsonContentType, this.nowMs);
    });
  }

  /**
   * One group version, such as `api/v1` or `apis/apps/v1`, version 3; undefined when not served.
   */
  ofGroupVersion(place: string): Promise<RenderedDocument> | undefined {
    this.refresh();
    const served = this.served.get(place);
    if (!served) return this.ofServer(place);
    return this.cached(`3 ${place}`, () => {
      const pieces = documentPieces(3, this.contents(served));
      return renderDocument(jsonOfVersion3(pieces), jsonContentType, this.nowMs);
    });
  }

  /** The document of an aggregated server, converted if it has only one of version 2. */
  private ofServer(place: string): Promise<RenderedDocument> | undefined {
    const found = this.foreign.get(place);
    if (!found) return undefined;
    const { group, discoveryPath } = found.server;
    const { openApi2, openApi3 } = this.dependencies.documents.of(found.server) ?? {};
    return this.cached(`3 ${place}`, () => {
      const document = openApi3?.value ?? convertToVersion3(openApi2?.value, group, discoveryPath);
      return renderDocument([JSON.stringify(document)], jsonContentType, this.nowMs);
    });
  }

  private readonly nowMs = () => this.dependencies.clock.monotonicMs();

  private contents(served: readonly ServedResource[]): Contents {
    const { subresourcesOf } = this.dependencies;
    return { served, subresourcesOf, groupVersions: this.groupVersions };
  }

  private cached(key: string, make: () => Promise<RenderedDocument>): Promise<RenderedDocument> {
    const cached = this.documents.get(key);
    if (cached) return cached;
    const document = make();
    this.documents.set(key, document);
    document.catch(() => {
      if (this.documents.get(key) === document) this.documents.delete(key);
    });
    return document;
  }
}

function sameServed(
  before: readonly ServedResource[] = [],
  now: readonly ServedResource[] = [],
): boolean {
  return before.length === now.length && before.every((served, index) => served === now[index]);
}

/** The permanent address of this document. */
export function urlOf(place: string, hash: string): string {
  return `/openapi/v3/${place}?hash=${hash}`;
}

function* protobufOfVersion2(pieces: Iterable<Piece>): Generator<Uint8Array> {
  yield protobufFrame();
  for (const piece of pieces) yield protobufPiece(piece);
}
