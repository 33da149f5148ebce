import { describe, expect, it } from 'vitest';
import { LOG_KEEP_ACTIVE_MAX } from '../limits.js';
import type { LogIndex, PeerProgress } from '../replicated-log.js';
import { type CutLimits, cutIndex } from './log-cutter.js';

const index = (value: number) => value as LogIndex;
const limits = (given: Partial<CutLimits>): CutLimits => ({
  durableIndex: index(1_000_000),
  firstIndex: index(1),
  keepEntries: 1_000,
  progress: [],
  self: 'self',
  sendingIndex: undefined,
  ...given,
});
const peer = (matchIndex: number, given: Partial<PeerProgress> = {}): PeerProgress => ({
  id: 'peer',
  matchIndex: index(matchIndex),
  appliedIndex: index(matchIndex),
  state: 'replicate',
  recentlyActive: true,
  ...given,
});

describe('cutIndex', () => {
  it('keeps some entries for everybody', () => {
    expect(cutIndex(limits({}))).toBe(999_000);
    expect(cutIndex(limits({ firstIndex: index(999_001) }))).toBeUndefined();
    expect(cutIndex(limits({ durableIndex: index(500) }))).toBeUndefined();
  });

  it('waits for a follower that answers, but not for ever', () => {
    expect(cutIndex(limits({ progress: [peer(950_000)] }))).toBe(950_000);
    expect(cutIndex(limits({ progress: [peer(10)] }))).toBe(1_000_000 - LOG_KEEP_ACTIVE_MAX);
    expect(cutIndex(limits({ progress: [peer(999_999)] }))).toBe(999_000);
  });

  it('does not wait for one that is silent, or is sent the state anyway', () => {
    expect(cutIndex(limits({ progress: [peer(10, { recentlyActive: false })] }))).toBe(999_000);
    expect(cutIndex(limits({ progress: [peer(10, { state: 'snapshot' })] }))).toBe(999_000);
  });

  it('keeps what follows a state that is being sent', () => {
    expect(cutIndex(limits({ sendingIndex: index(900_000) }))).toBe(900_000);
  });
});
