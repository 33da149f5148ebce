/** Conditions of the whole network that last for a while. */
import type { LinkConditions } from '@orch/raft';
import type { Random } from './random.js';

export const weather: Readonly<Record<string, (random: Random) => Partial<LinkConditions>>> = {
  loss: (random) => ({ lossRate: random.between(0.01, 0.3) }),
  duplication: (random) => ({ duplicateRate: random.between(0.01, 0.5) }),
  reordering: (random) => ({ reorderRate: random.between(0.01, 0.5) }),
  delay: (random) => ({ delayMinMs: 0.1, delayMaxMs: random.magnitude(1, 1_000) }),
  stale: (random) => ({
    staleRate: random.between(0.001, 0.02),
    staleMs: random.magnitude(50, 10_000),
  }),
  corruption: (random) => ({ corruptRate: random.between(0.001, 0.03) }),
  entryDamage: (random) => ({ entryDamageRate: random.between(0.001, 0.05) }),
  reset: (random) => ({ resetRate: random.between(0.001, 0.05) }),
  snapshotReset: (random) => ({ snapshotResetRate: random.between(0.05, 0.5) }),
  wrongCluster: (random) => ({ wrongClusterRate: random.between(0.05, 0.5) }),
  bandwidth: (random) => ({ bytesPerSecond: random.magnitude(20_000, 10_000_000) }),
};

export const calm: Partial<LinkConditions> = {
  lossRate: 0,
  duplicateRate: 0,
  reorderRate: 0,
  delayMinMs: 0.1,
  delayMaxMs: 0.5,
  staleRate: 0,
  corruptRate: 0,
  entryDamageRate: 0,
  resetRate: 0,
  snapshotResetRate: 0,
  wrongClusterRate: 0,
  bytesPerSecond: 1024 * 1024 * 1024,
};
