/**
 * The options of get, list and watch requests and their consistency: every cell of the interface's
 * tables of resource versions. A version is the store's revision in decimal.
 */
import { badRequest, type FieldError, fieldError, invalid } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { ListRequest, WatchRequest } from '@orch/registry';
import { type ContinueToken, decodeContinueToken } from '@orch/registry';
import { type ReadConsistency, type Revision, toRevision } from '@orch/store';
import type { Query } from '../http/query.js';

/** Digits of a version that still are an exact number here. */
const versionMax = Number.MAX_SAFE_INTEGER;

/** Undefined when empty. Throws 400 for a version that is not a number. */
function parseResourceVersion(text: string): Revision | undefined {
  if (text === '') return undefined;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= versionMax)) {
    const quoted = JSON.stringify(text);
    throw badRequest(
      `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: invalid syntax`,
    );
  }
  return toRevision(value);
}

const integerMax = 2n ** 63n;

/**
 * A decimal parameter of 64 bits; 0 when absent. Throws 400 in the interface's wording for any
 * other text.
 */
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

/** The consistency of a get. */
export function getConsistency(query: Query): ReadConsistency {
  return readConsistency(parseResourceVersion(query.get('resourceVersion')));
}

function readConsistency(version: Revision | undefined): ReadConsistency {
  if (version === undefined) return { kind: 'quorum' };
  return version === 0 ? { kind: 'any' } : { kind: 'notOlderThan', revision: version };
}

/** `chunked`: whether the client may request chunks; otherwise the list is complete. */
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
    // A read from memory is never chunked.
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
