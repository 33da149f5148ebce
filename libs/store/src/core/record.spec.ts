import { describe, expect, it } from 'vitest';
import { type Revision, StoreError } from '../versioned-store.js';
import { decodeRecord, encodeRecord, versionKey } from './record.js';
import { StoredEntry } from './stored-entry.js';

const place = versionKey(7, 1);
const entry = new StoredEntry('a/b', Buffer.from('x'), 3 as Revision, 7 as Revision, 1, 0, 0);
const record = encodeRecord(place, { entry, deleted: false, last: true, previousRevision: 5 });

describe('version record', () => {
  it('decodes to an equal record', () => {
    expect(decodeRecord(place, record)).toEqual({
      entry,
      deleted: false,
      last: true,
      previousRevision: 5,
    });
  });

  it('is rejected under a key that names no version', () => {
    for (const key of [Buffer.alloc(0), place.subarray(0, 9), Buffer.concat([place, place])]) {
      expect(() => decodeRecord(key, record)).toThrow(StoreError);
    }
  });

  it('is rejected if its numbers contradict each other', () => {
    const wrong = [
      { ...entry, createRevision: 8 as Revision },
      { ...entry, revisionOffset: 2 },
    ];
    for (const one of wrong) {
      const bytes = encodeRecord(place, {
        ...{ entry: one, deleted: false, last: true, previousRevision: 5 },
      });
      expect(() => decodeRecord(place, bytes)).toThrow(/contradict each other/);
    }
  });
});
