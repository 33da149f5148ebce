import { describe, expect, it } from 'vitest';
import { asLogIndex, asTerm } from '../brands.js';
import { entryAfter, entryChecksum, follows, logOrigin } from './entry-checksum.js';

describe('the chain of checksums', () => {
  const first = entryAfter(logOrigin, asTerm(3), 'command', Buffer.from('one'));
  const second = entryAfter(first, asTerm(3), 'empty', Buffer.alloc(0));

  it('stays the same for good: logs on disk hold it', () => {
    const data = Buffer.from('data');
    expect(entryChecksum(0, asTerm(1), asLogIndex(1), 'command', data)).toBe(4274496434);
    const large = asLogIndex(2 ** 40);
    expect(entryChecksum(0xffff_ffff, asTerm(7), large, 'configuration', data)).toBe(57219605);
  });

  it('covers everything of an entry, and the one before', () => {
    expect(follows(first, second)).toBe(true);
    expect(follows(logOrigin, second)).toBe(false);
    expect(follows({ ...first, checksum: first.checksum ^ 1 }, second)).toBe(false);
    expect(follows(first, { ...second, term: asTerm(4) })).toBe(false);
    expect(follows(first, { ...second, kind: 'configuration' })).toBe(false);
    expect(follows(first, { ...second, data: Buffer.from([0]) })).toBe(false);
    expect(follows(first, { ...second, index: asLogIndex(3) })).toBe(false);
  });

  it('never goes back in terms', () => {
    expect(follows(first, entryAfter(first, asTerm(2), 'empty', Buffer.alloc(0)))).toBe(false);
  });
});
