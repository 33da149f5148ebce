import { describe, expect, it } from 'vitest';
import type { Revision } from '../../versioned-store.js';
import { decodeValue, EtcdEntry, encodeValue } from './etcd-entry.js';

const at = (revision: number) => revision as Revision;

describe('values in etcd', () => {
  it('contain the payload and the offset of the revision', () => {
    const given = { payload: Buffer.from('{"rv":""}'), revisionOffset: 7 };
    const value = encodeValue(given);
    expect(value.toString().startsWith('{"rv":""}')).toBe(true);
    const entry = EtcdEntry.of('a/b/c', decodeValue('a/b/c', value), at(3), at(12));
    expect(entry.bytes.toString()).toBe('{"rv":"12"}');
    expect(entry.deletedAt(at(1_000)).bytes.toString()).toBe('{"rv":"1000"}');
    expect(entry.deletedAt(at(1_000))).toMatchObject({ createRevision: 3, revision: 1_000 });
  });

  it('are copies of the payload when encoded and when decoded', () => {
    const payload = Buffer.from('before');
    const value = encodeValue({ payload, revisionOffset: 0 });
    payload.fill('x');
    const entry = EtcdEntry.of('a/b/c', decodeValue('a/b/c', value), at(1), at(1));
    value.fill('y');
    expect(entry.bytes.toString()).toBe('before');
  });

  it('are rejected when another program wrote them', () => {
    const cut = encodeValue({ payload: Buffer.from('abc'), revisionOffset: 3 }).subarray(1);
    for (const value of [
      Buffer.alloc(0),
      Buffer.from('abcd'),
      Buffer.from('{"kind":"Pod"}'),
      cut,
    ]) {
      expect(() => decodeValue('a/b/c', value)).toThrowError(
        expect.objectContaining({ code: 'Corrupt', message: expect.stringContaining('a/b/c') }),
      );
    }
  });
});
