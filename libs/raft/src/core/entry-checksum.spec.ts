import { describe, expect, it } from 'vitest';
import type { LogIndex } from '../replicated-log.js';
import { entryAfter, entryChecksum, follows, LOG_ORIGIN } from './entry-checksum.js';

describe('the chain of checksums', () => {
  const first = entryAfter(LOG_ORIGIN, 3, 'command', Buffer.from('one'));
  const second = entryAfter(first, 3, 'empty', Buffer.alloc(0));

  it('stays the same for good: logs on disk hold it', () => {
    const data = Buffer.from('data');
    expect(entryChecksum(0, 1, 1 as LogIndex, 'command', data)).toBe(4274496434);
    const large = (2 ** 40) as LogIndex;
    expect(entryChecksum(0xffff_ffff, 7, large, 'configuration', data)).toBe(57219605);
  });

  it('covers everything of an entry, and the one before', () => {
    expect(follows(first, second)).toBe(true);
    expect(follows(LOG_ORIGIN, second)).toBe(false);
    expect(follows({ ...first, checksum: first.checksum ^ 1 }, second)).toBe(false);
    expect(follows(first, { ...second, term: 4 })).toBe(false);
    expect(follows(first, { ...second, kind: 'configuration' })).toBe(false);
    expect(follows(first, { ...second, data: Buffer.from([0]) })).toBe(false);
    expect(follows(first, { ...second, index: 3 as LogIndex })).toBe(false);
  });

  it('never goes back in terms', () => {
    expect(follows(first, entryAfter(first, 2, 'empty', Buffer.alloc(0)))).toBe(false);
  });
});
