/**
 * Content negotiation: the representation that an Accept header selects. Parsed headers are cached
 * by their text, so that a repeated header costs one map lookup. Media types come from the dialect.
 */
import { notAcceptable, StatusError } from '@orch/apimachinery';
import { dialect } from '@orch/component';

export type Format = 'json' | 'yaml' | 'protobuf';
export type View = 'object' | 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';

/** The form of a response. */
export interface Representation {
  readonly format: Format;
  readonly view: View;
  /** Version of the view's group, `v1` or `v1beta1`; empty for plain objects. */
  readonly viewVersion: string;
  readonly pretty: boolean;
}

/** The forms that a response can have. */
export interface Offer {
  /** Tables and metadata views are offered. */
  readonly views: boolean;
  /** A stream of events: no YAML. */
  readonly stream: boolean;
  /** Objects themselves have no protobuf form: only views of them. */
  readonly isCustom?: boolean;
}

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

const views: ReadonlySet<string> = new Set<View>([
  'Table',
  'PartialObjectMetadata',
  'PartialObjectMetadataList',
]);

function isView(text: string): text is View {
  return views.has(text);
}

const viewVersions = new Set(['v1', 'v1beta1']);
const cachedHeaderCountMax = 1_000;
const cached = new Map<string, Decision>();

export function acceptedTypes(): string[] {
  return ['application/json', 'application/yaml', dialect().protobufMediaType];
}

/** The formats of event streams. */
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

/** Clauses of an Accept header, the preferred one first. */
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
  if (!offer.views || !isView(view) || !viewVersions.has(viewVersion)) return undefined;
  if (parameters.get('g') !== dialect().metaGroup) return undefined;
  if (view === 'Table' && format === 'protobuf') return undefined;
  return { format, view, viewVersion, pretty };
}

type Decision = Representation | 'unknown' | 'unacceptable' | 'unstreamable';

function decide(header: string, offer: Offer): Decision {
  let isRecognised = false;
  for (const clause of parseAccept(header)) {
    const format = formatOf(clause.type);
    if (format === undefined) continue;
    isRecognised = true;
    const representation = representationOf(clause, format, offer);
    if (!representation) continue;
    // The first acceptable format decides, even if it cannot be streamed.
    return offer.stream && format === 'yaml' ? 'unstreamable' : representation;
  }
  return isRecognised ? 'unacceptable' : 'unknown';
}

/**
 * Throws 406 if no offered representation is acceptable. `header`: Accept, undefined if not sent.
 */
export function negotiate(header: string | undefined, offer: Offer): Representation {
  if (header === undefined || header === '' || header === 'application/json' || header === '*/*') {
    return plainJson;
  }
  const key = `${offer.views ? 1 : 0}${offer.stream ? 1 : 0}${offer.isCustom ? 1 : 0}${header}`;
  let decision = cached.get(key);
  if (decision === undefined) {
    decision = decide(header, offer);
    if (cached.size >= cachedHeaderCountMax) cached.clear();
    cached.set(key, decision);
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
