/**
 * Which representation a request wants and which one it brings. Parsed headers are remembered by their
 * text, so that a client's usual header costs one map lookup. Media types come from the dialect.
 */
import { badRequest, notAcceptable, StatusError, unsupportedMediaType } from '@orch/apimachinery';
import { dialect, type Features } from '@orch/component';

export type Format = 'json' | 'yaml' | 'protobuf';
export type View = 'object' | 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';

/** How to answer. */
export interface Representation {
  readonly format: Format;
  readonly view: View;
  /** Version of the view's group, `v1` or `v1beta1`; empty for plain objects. */
  readonly viewVersion: string;
  readonly pretty: boolean;
}

/** What the requested thing can be shown as. */
export interface Offer {
  /** Tables and metadata views are offered. */
  readonly views: boolean;
  /** A stream of events: no YAML. */
  readonly stream: boolean;
  /** Objects themselves have no protobuf form: only views of them. */
  readonly isCustom?: boolean;
}

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

interface Clause {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

export const plainJson: Representation = {
  format: 'json',
  view: 'object',
  viewVersion: '',
  pretty: false,
};

const views = new Set(['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList']);
const viewVersions = new Set(['v1', 'v1beta1']);
const headersRememberedMax = 1_000;
const remembered = new Map<string, Decision>();

export function acceptedTypes(): string[] {
  return ['application/json', 'application/yaml', dialect().protobufMediaType];
}

/** Formats that events come in. */
function streamedTypes(): string[] {
  return acceptedTypes()
    .filter((type) => type !== 'application/yaml')
    .map((type) => `${type};stream=watch`);
}

export function contentTypeOf(format: Format): string {
  if (format === 'json') return 'application/json';
  return format === 'yaml' ? 'application/yaml' : dialect().protobufMediaType;
}

function parseClause(text: string): Clause {
  const [type = '', ...rest] = text.split(';');
  const parameters = new Map<string, string>();
  let quality = 1;
  for (const part of rest) {
    const mark = part.indexOf('=');
    const name = (mark < 0 ? part : part.slice(0, mark)).trim().toLowerCase();
    const value = mark < 0 ? '' : part.slice(mark + 1).trim();
    if (name === 'q') {
      const parsed = Number(value);
      quality = Number.isFinite(parsed) ? parsed : 1;
    } else if (name !== '') parameters.set(name, value);
  }
  return { type: type.trim().toLowerCase(), parameters, quality };
}

function wildcardRank(type: string): number {
  if (type === '*/*') return 2;
  return type.endsWith('/*') ? 1 : 0;
}

/** Clauses of an Accept header, the most wanted first. */
function parseAccept(header: string): Clause[] {
  return header
    .split(',')
    .map(parseClause)
    .filter((clause) => clause.type !== '')
    .sort((a, b) => b.quality - a.quality || wildcardRank(a.type) - wildcardRank(b.type));
}

function formatOf(type: string): Format | undefined {
  if (type === 'application/json' || type === '*/*' || type === 'application/*') return 'json';
  if (type === 'application/yaml') return 'yaml';
  return type === dialect().protobufMediaType ? 'protobuf' : undefined;
}

function representationOf(
  clause: Clause,
  format: Format,
  offer: Offer,
): Representation | undefined {
  const { parameters } = clause;
  const view = parameters.get('as') ?? '';
  const stream = parameters.get('stream') ?? '';
  if (stream !== '' && (stream !== 'watch' || format === 'yaml')) return undefined;
  const pretty = parameters.get('pretty') === '1' || parameters.get('pretty') === 'true';
  if (view === '') {
    if (offer.isCustom && format === 'protobuf') return undefined;
    return { format, view: 'object', viewVersion: '', pretty };
  }
  const viewVersion = parameters.get('v') ?? '';
  if (!offer.views || !views.has(view) || !viewVersions.has(viewVersion)) return undefined;
  if (parameters.get('g') !== dialect().metaGroup) return undefined;
  if (view === 'Table' && format === 'protobuf') return undefined;
  return { format, view: view as View, viewVersion, pretty };
}

type Decision = Representation | 'unknown' | 'unacceptable' | 'unstreamable';

function decide(header: string, offer: Offer): Decision {
  let known = false;
  for (const clause of parseAccept(header)) {
    const format = formatOf(clause.type);
    if (format === undefined) continue;
    known = true;
    const representation = representationOf(clause, format, offer);
    if (!representation) continue;
    // The format is settled before it is known to be streamed: what comes after is not looked at.
    return offer.stream && format === 'yaml' ? 'unstreamable' : representation;
  }
  return known ? 'unacceptable' : 'unknown';
}

/** Throws 406 when nothing fits. `header`: of Accept, undefined when not sent. */
export function negotiate(header: string | undefined, offer: Offer): Representation {
  if (header === undefined || header === '' || header === 'application/json' || header === '*/*') {
    return plainJson;
  }
  const key = `${offer.views ? 1 : 0}${offer.stream ? 1 : 0}${offer.isCustom ? 1 : 0}${header}`;
  let decision = remembered.get(key);
  if (decision === undefined) {
    decision = decide(header, offer);
    if (remembered.size >= headersRememberedMax) remembered.clear();
    remembered.set(key, decision);
  }
  if (decision === 'unknown') {
    throw new StatusError({
      code: 406,
      reason: 'NotAcceptable',
      message: '406: Not Acceptable',
      details: {},
    });
  }
  if (decision === 'unacceptable') throw notAcceptable(acceptedTypes());
  if (decision === 'unstreamable') throw notAcceptable(streamedTypes());
  return decision;
}

function bareType(header: string): string {
  const mark = header.indexOf(';');
  return (mark < 0 ? header : header.slice(0, mark)).trim().toLowerCase();
}

/** Format of a request body; JSON when nothing is said. Throws 415. */
export function bodyFormat(contentType: string | undefined): Format {
  if (contentType === undefined || contentType === '') return 'json';
  const type = bareType(contentType);
  if (type === 'application/json') return 'json';
  if (type === 'application/yaml') return 'yaml';
  if (type === dialect().protobufMediaType) return 'protobuf';
  throw unsupportedMediaType(acceptedTypes());
}

const patchTypes: Readonly<Record<string, PatchType>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
};

/** Kind of a patch. `isCustom`: of a custom resource, which has no merge keys. Throws 415. */
export function patchType(
  contentType: string | undefined,
  features: Features,
  isCustom = false,
): PatchType {
  const isOffered = (type: PatchType) =>
    (type !== 'apply' || features.enabled('ServerSideApply')) &&
    !(isCustom && type === 'strategic');
  const type = patchTypes[bareType(contentType ?? '')];
  if (type && isOffered(type)) return type;
  if (isCustom) {
    const offered = Object.entries(patchTypes).filter(([, each]) => isOffered(each));
    throw unsupportedMediaType(offered.map(([name]) => name));
  }
  throw new StatusError({
    code: 415,
    reason: 'UnsupportedMediaType',
    message: '415: Unsupported Media Type',
    details: {},
  });
}

/** A client that asks for a list view of one object, or the other way round, is told so. */
export function checkViewFits(representation: Representation, list: boolean): void {
  const { view } = representation;
  if (view === 'PartialObjectMetadataList' && !list) {
    throw notAcceptableView(view, 'not a list');
  }
  if (view === 'PartialObjectMetadata' && list) throw notAcceptableView(view, 'a list');
}

function notAcceptableView(view: View, what: string): StatusError {
  return new StatusError({
    code: 406,
    reason: 'NotAcceptable',
    message: `you requested ${view}, but the requested object is ${what} (${view})`,
  });
}

export type IncludeObject = 'Metadata' | 'Object' | 'None';

/** The table parameter `includeObject`. */
export function includeObjectOf(value: string): IncludeObject {
  if (value === '' || value === 'Metadata') return 'Metadata';
  if (value === 'Object' || value === 'None') return value;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}
