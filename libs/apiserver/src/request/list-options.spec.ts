import { StatusError } from '@orch/apimachinery';
import { encodeContinueToken } from '@orch/registry';
import type { Revision } from '@orch/store';
import { describe, expect, it } from 'vitest';
import { Query } from '../http/query.js';
import { getConsistency, parseListRequest, parseWatchRequest } from './list-options.js';

const token = encodeContinueToken({ revision: 7 as Revision, startAfter: 'a' });

const badToken = 'invalid continue token: continue key is not valid: ';
const withContinue = 'specifying resource version is not allowed when using continue';

function badVersion(text: string): string {
  return `resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`;
}

function encodeBody(body: object): string {
  return Buffer.from(JSON.stringify(body)).toString('base64url');
}

function codeOf(query: string): number | undefined {
  try {
    parseListRequest(new Query(query));
    return undefined;
  } catch (error) {
    if (error instanceof StatusError) return error.code;
    throw error;
  }
}

/** One cell of the interface's table. */
function cell(query: string): string {
  const { consistency } = parseListRequest(new Query(query));
  return 'revision' in consistency
    ? `${consistency.kind} ${consistency.revision}`
    : consistency.kind;
}

describe('resource versions of lists', () => {
  it.each([
    ['', 'quorum'],
    ['resourceVersion=0', 'any'],
    ['resourceVersion=5', 'notOlderThan 5'],
    ['limit=2', 'quorum'],
    ['limit=2&resourceVersion=0', 'any'],
    ['limit=2&resourceVersion=5', 'exact 5'],
    [`limit=2&continue=${token}`, 'exact 7'],
    [`limit=2&continue=${token}&resourceVersion=0`, 'exact 7'],
    ['resourceVersion=5&resourceVersionMatch=Exact', 'exact 5'],
    ['limit=2&resourceVersion=5&resourceVersionMatch=Exact', 'exact 5'],
    ['resourceVersion=0&resourceVersionMatch=NotOlderThan', 'any'],
    ['resourceVersion=5&resourceVersionMatch=NotOlderThan', 'notOlderThan 5'],
    ['limit=2&resourceVersion=5&resourceVersionMatch=NotOlderThan', 'notOlderThan 5'],
  ])('"%s" reads %s', (query, expected) => {
    expect(cell(query)).toBe(expected);
  });

  it.each([
    [`limit=2&continue=${token}&resourceVersion=5`, 400],
    ['resourceVersionMatch=Exact', 422],
    ['resourceVersion=0&resourceVersionMatch=Exact', 422],
    ['resourceVersionMatch=NotOlderThan', 422],
    ['resourceVersion=5&resourceVersionMatch=Nope', 422],
    ['resourceVersion=abc', 400],
    ['resourceVersion=99999999999999999999', 400],
    ['limit=many', 400],
    ['continue=nonsense', 400],
  ])('"%s" is refused with %i', (query, code) => {
    expect(codeOf(query)).toBe(code);
  });

  const unrecognized = encodeBody({ v: 'v9', rv: 7, start: 'a' });
  const versionless = encodeBody({ v: 'meta.v1', rv: 0, start: 'a' });
  const keyless = encodeBody({ v: 'meta.v1', rv: 7, start: '' });
  it.each([
    ['resourceVersion=x', `${badVersion('x')}`],
    ['limit=2&resourceVersion=-1', `${badVersion('-1')}`],
    [`continue=${token}&resourceVersion=x`, withContinue],
    [`continue=${token}&resourceVersion=00`, withContinue],
    ['continue=%25', `${badToken}illegal base64 data`],
    [`continue=${unrecognized}`, `${badToken}server does not recognize this encoded version "v9"`],
    [
      `continue=${versionless}`,
      `${badToken}incorrect encoded start resourceVersion (version meta.v1)`,
    ],
    [`continue=${keyless}`, `${badToken}encoded start key empty (version meta.v1)`],
  ])('"%s" is rejected with the cause', (query, message) => {
    expect(() => parseListRequest(new Query(query))).toThrow(message);
  });

  it('reads numbers of 64 bits and takes nothing for none', () => {
    const messageOf = (query: string) => {
      try {
        return String(parseListRequest(new Query(query)).limit);
      } catch (error) {
        return error instanceof StatusError ? error.message : String(error);
      }
    };
    expect(messageOf('limit=+5')).toContain('invalid syntax');
    expect(messageOf('limit=%2B5')).toBe('5');
    expect(messageOf('limit=-1')).toBe('0');
    expect(messageOf('limit=')).toBe('strconv.ParseInt: parsing "": invalid syntax');
    expect(messageOf('limit=9223372036854775808')).toBe(
      'strconv.ParseInt: parsing "9223372036854775808": value out of range',
    );
  });

  it('treats a flag without a value as true', () => {
    expect(new Query('watch').flag('watch')).toBe(true);
    expect(new Query('watch=').flag('watch')).toBe(true);
    expect(new Query('watch=0').flag('watch')).toBe(false);
    expect(new Query('watch=False').flag('watch')).toBe(false);
  });

  it('ignores the limit for reads served from memory', () => {
    expect(parseListRequest(new Query('limit=2&resourceVersion=0')).limit).toBe(0);
  });
});

describe('resource versions of gets and watches', () => {
  it('follows the table', () => {
    expect(getConsistency(new Query(''))).toEqual({ kind: 'quorum' });
    expect(getConsistency(new Query('resourceVersion=0'))).toEqual({ kind: 'any' });
    expect(getConsistency(new Query('resourceVersion=3'))).toEqual({
      kind: 'notOlderThan',
      revision: 3,
    });
    expect(parseWatchRequest(new Query('watch=1')).resourceVersion).toBeUndefined();
    expect(parseWatchRequest(new Query('watch=1&resourceVersion=3')).resourceVersion).toBe(3);
    expect(() => parseWatchRequest(new Query('watch=1&resourceVersion=x'))).toThrow(
      badVersion('x'),
    );
    expect(() => getConsistency(new Query('resourceVersion=x'))).toThrow(badVersion('x'));
  });

  it('has no rule of matching for watches', () => {
    const reasons = ['for watch', 'unless resourceVersion is provided'].map(
      (when) => `resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden ${when}`,
    );
    const read = () => parseWatchRequest(new Query('watch=1&resourceVersionMatch=NotOlderThan'));
    expect(read).toThrow(`is invalid: [${reasons.join(', ')}]`);
  });
});
