/**
 * The options of get, list and watch requests, and what they mean for the store: every cell of the
 * interface's tables of resource versions. A version is the store's revision in decimal.
 */
import { badRequest, type FieldError, fieldError, invalid } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { ReadConsistency, Revision } from '@orch/store';
import { type ContinueToken, decodeContinueToken } from './continue-token.js';
import type { Query } from './query.js';

export interface ListRequest {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly consistency: ReadConsistency;
  /** 0: everything. */
  readonly limit: number;
  readonly continueFrom: ContinueToken | undefined;
  /** 0: the server's own limit. */
  readonly timeoutSeconds: number;
}

export interface WatchRequest {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  /** Undefined: begin with the state at a quorum read; 0: with the state in memory. */
  readonly resourceVersion: Revision | undefined;
  readonly allowBookmarks: boolean;
  readonly timeoutSeconds: number;
}

/** Digits of a version that still are an exact number here. */
const versionMax = Number.MAX_SAFE_INTEGER;

/** Undefined when empty. Throws 400 for a version that is no number. */
function parseResourceVersion(text: string): Revision | undefined {
  if (text === '') return undefined;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= versionMax)) {
    const quoted = JSON.stringify(text);
    throw badRequest(
      `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: invalid syntax`,
    );
  }
  return value as Revision;
}

const integerMax = 2n ** 63n;

/** A decimal parameter of 64 bits; 400 in the interface's wording when it is none, 0 when absent. */
export function parseInteger(query: Query, name: string): number {
  if (!query.has(name)) return 0;
  const text = query.get(name);
  const refuse = (detail: string) =>
    badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${detail}`);
  if (!/^[+-]?\d+$/.test(text)) throw refuse('invalid syntax');
  const value = BigInt(text.replace('+', ''));
  if (value >= integerMax || value < -integerMax) throw refuse('value out of range');
  return Number(value);
}

function forbiddenMatch(detail: string): FieldError {
  return fieldError.forbidden('resourceVersionMatch', detail);
}

function checkMatch(
  match: string,
  version: string,
  continueText: string,
  watch: boolean,
): FieldError[] {
  if (match === '') return [];
  const errors: FieldError[] = [];
  if (watch) errors.push(forbiddenMatch('resourceVersionMatch is forbidden for watch'));
  if (version === '') {
    errors.push(
      forbiddenMatch('resourceVersionMatch is forbidden unless resourceVersion is provided'),
    );
  }
  if (continueText !== '') {
    errors.push(forbiddenMatch('resourceVersionMatch is forbidden when continue is provided'));
  }
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    errors.push(
      fieldError.notSupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan', '']),
    );
  }
  if (match === 'Exact' && version === '0') {
    errors.push(
      forbiddenMatch('resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
    );
  }
  return errors;
}

function refuseInvalid(errors: readonly FieldError[]): void {
  if (errors.length === 0) return;
  throw invalid({ group: dialect().metaGroup, kind: 'ListOptions' }, '', errors);
}

/** What a get may be answered from. */
export function getConsistency(query: Query): ReadConsistency {
  return readConsistency(parseResourceVersion(query.get('resourceVersion')));
}

function readConsistency(version: Revision | undefined): ReadConsistency {
  if (version === undefined) return { kind: 'quorum' };
  return version === 0 ? { kind: 'any' } : { kind: 'notOlderThan', revision: version };
}

/** `chunked`: whether a client may ask for a part at a time; otherwise it gets everything. */
export function parseListRequest(query: Query, chunked = true): ListRequest {
  const versionText = query.get('resourceVersion');
  const match = query.get('resourceVersionMatch');
  const continueText = chunked ? query.get('continue') : '';
  refuseInvalid(checkMatch(match, versionText, continueText, false));
  const limit = chunked ? Math.max(0, parseInteger(query, 'limit')) : 0;
  let consistency: ReadConsistency;
  let continueFrom: ContinueToken | undefined;
  if (continueText !== '') {
    continueFrom = decodeContinueToken(continueText);
    if (versionText !== '' && versionText !== '0') {
      throw badRequest('specifying resource version is not allowed when using continue');
    }
    const { revision } = continueFrom;
    consistency = revision === undefined ? { kind: 'quorum' } : { kind: 'exact', revision };
  } else {
    const version = parseResourceVersion(versionText);
    const exact = match === 'Exact' || (match === '' && limit > 0);
    consistency =
      version && exact ? { kind: 'exact', revision: version } : readConsistency(version);
  }
  return {
    labelSelector: query.get('labelSelector'),
    fieldSelector: query.get('fieldSelector'),
    consistency,
    // A read of whatever memory has comes whole.
    limit: consistency.kind === 'any' ? 0 : limit,
    continueFrom,
    timeoutSeconds: Math.max(0, parseInteger(query, 'timeoutSeconds')),
  };
}

export function parseWatchRequest(query: Query): WatchRequest {
  const versionText = query.get('resourceVersion');
  const match = query.get('resourceVersionMatch');
  refuseInvalid(checkMatch(match, versionText, query.get('continue'), true));
  return {
    labelSelector: query.get('labelSelector'),
    fieldSelector: query.get('fieldSelector'),
    resourceVersion: parseResourceVersion(versionText),
    allowBookmarks: query.flag('allowWatchBookmarks'),
    timeoutSeconds: Math.max(0, parseInteger(query, 'timeoutSeconds')),
  };
}
