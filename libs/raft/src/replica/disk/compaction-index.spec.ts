import { describe, expect, it } from 'vitest';
import { asLogIndex, asMemberId } from '../../core/brands.js';
import type { PeerProgress } from '../../core/status.js';
import { activeFollowerLagMax } from '../../limits.js';
import { type CompactionLimits, compactionIndex } from './compaction-index.js';

const index = (value: number) => asLogIndex(value);
const limits = (given: Partial<CompactionLimits>): CompactionLimits => ({
  durableIndex: index(1_000_000),
  firstIndex: index(1),
  keepEntries: 1_000,
  progress: [],
  self: asMemberId('self'),
  sendingIndex: undefined,
  ...given,
});
const peer = (matchIndex: number, given: Partial<PeerProgress> = {}): PeerProgress => ({
  id: asMemberId('peer'),
  matchIndex: index(matchIndex),
  appliedIndex: index(matchIndex),
  state: 'replicate',
  recentlyActive: true,
  ...given,
});

describe('cutIndex', () => {
  it('retains some entries for all members', () => {
    expect(compactionIndex(limits({}))).toBe(999_000);
    expect(compactionIndex(limits({ firstIndex: index(999_001) }))).toBeUndefined();
    expect(compactionIndex(limits({ durableIndex: index(500) }))).toBeUndefined();
  });

  it('waits for an active follower, up to a limit', () => {
    expect(compactionIndex(limits({ progress: [peer(950_000)] }))).toBe(950_000);
    expect(compactionIndex(limits({ progress: [peer(10)] }))).toBe(
      1_000_000 - activeFollowerLagMax,
    );
    expect(compactionIndex(limits({ progress: [peer(999_999)] }))).toBe(999_000);
  });

  it('does not wait for one that is silent, or is sent the state anyway', () => {
    expect(compactionIndex(limits({ progress: [peer(10, { recentlyActive: false })] }))).toBe(
      999_000,
    );
    expect(compactionIndex(limits({ progress: [peer(10, { state: 'snapshot' })] }))).toBe(999_000);
  });

  it('keeps what follows a state that is being sent', () => {
    expect(compactionIndex(limits({ sendingIndex: index(900_000) }))).toBe(900_000);
  });
});
