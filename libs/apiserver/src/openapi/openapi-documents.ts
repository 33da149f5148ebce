/**
 * The OpenAPI documents of this server. Each is made when it is first asked for, from the served
 * resources, and kept as bytes while those stay as they are: that of a group version when another group
 * changes, too. A failed attempt is not kept.
 */
import type { Clock } from '@orch/component';
import type { Subresource } from '../handlers/subresources.js';
import type { ServedResource } from '../registry/resource.js';
import type { ResourceTable } from '../registry/resource-table.js';
import type { RenderedDocument } from '../response/rendered-document.js';
import { type Contents, documentPieces, type Piece } from './document.js';
import { jsonOfVersion2, jsonOfVersion3 } from './json-document.js';
import { protobufFrame, protobufPiece } from './protobuf-document.js';
import { renderDocument } from './rendered.js';
import type { GroupVersion } from './schema.js';

export const documentFormats = ['json', 'protobuf'] as const;
export type DocumentFormat = (typeof documentFormats)[number];

/** The name without a sign that media types must not hold: what answers are labelled with. */
const protobufContentType = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const jsonContentType = 'application/json';

export class OpenApiDocuments {
  private madeAt = -1;
  private groupVersions: readonly GroupVersion[] = [];
  private served = new Map<string, ServedResource[]>();
  private readonly documents = new Map<string, Promise<RenderedDocument>>();

  constructor(
    private readonly table: ResourceTable,
    private readonly subresourcesOf: (served: ServedResource) => readonly Subresource[],
    private readonly clock: Clock,
  ) {}

  /** Looks again at what is served, and lets go of the documents that tell of something else. */
  private refresh(): void {
    if (this.madeAt === this.table.revision) return;
    this.madeAt = this.table.revision;
    const before = this.served;
    this.served = new Map();
    for (const one of this.table.served) {
      const place = `${one.group === '' ? 'api' : 'apis'}/${one.apiVersion}`;
      const siblings = this.served.get(place);
      if (siblings) siblings.push(one);
      else this.served.set(place, [one]);
    }
    // Kinds that all groups have are told of with those that are built in.
    this.groupVersions = [...this.served.values()]
      .filter(([first]) => !first!.definition.custom)
      .map(([first]) => ({ group: first!.group, version: first!.version }));
    for (const place of before.keys()) {
      if (!sameServed(before.get(place), this.served.get(place))) {
        this.documents.delete(`3 ${place}`);
      }
    }
    for (const key of ['2 json', '2 protobuf', '3']) this.documents.delete(key);
  }

  /** Everything in one document, version 2. */
  whole(format: DocumentFormat): Promise<RenderedDocument> {
    this.refresh();
    return this.kept(`2 ${format}`, () => {
      const pieces = documentPieces(2, this.contents(this.table.served));
      return format === 'json'
        ? renderDocument(jsonOfVersion2(pieces), jsonContentType, this.nowMs)
        : renderDocument(protobufOfVersion2(pieces), protobufContentType, this.nowMs);
    });
  }

  /** Where the document of each group version is, version 3. */
  index(): Promise<RenderedDocument> {
    this.refresh();
    return this.kept('3', async () => {
      const paths: Record<string, { serverRelativeURL: string }> = {};
      for (const place of [...this.served.keys()]) {
        const document = await this.ofGroupVersion(place);
        if (!document) continue;
        const { hash } = document;
        paths[place] = { serverRelativeURL: urlOf(place, hash) };
      }
      return renderDocument([JSON.stringify({ paths })], jsonContentType, this.nowMs);
    });
  }

  /** One group version, such as `api/v1` or `apis/apps/v1`, version 3; undefined when not served. */
  ofGroupVersion(place: string): Promise<RenderedDocument> | undefined {
    this.refresh();
    const served = this.served.get(place);
    if (!served) return undefined;
    return this.kept(`3 ${place}`, () => {
      const pieces = documentPieces(3, this.contents(served));
      return renderDocument(jsonOfVersion3(pieces), jsonContentType, this.nowMs);
    });
  }

  private readonly nowMs = () => this.clock.monotonicMs();

  private contents(served: readonly ServedResource[]): Contents {
    return { served, subresourcesOf: this.subresourcesOf, groupVersions: this.groupVersions };
  }

  private kept(key: string, make: () => Promise<RenderedDocument>): Promise<RenderedDocument> {
    const known = this.documents.get(key);
    if (known) return known;
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
  return before.length === now.length && before.every((one, index) => one === now[index]);
}

/** The address that holds this very document for ever. */
export function urlOf(place: string, hash: string): string {
  return `/openapi/v3/${place}?hash=${hash}`;
}

function* protobufOfVersion2(pieces: Iterable<Piece>): Generator<Uint8Array> {
  yield protobufFrame();
  for (const piece of pieces) yield protobufPiece(piece);
}
