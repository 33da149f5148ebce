import type { Profile } from '@orch/scheduling';
import { describe, expect, it } from 'vitest';
import { Random } from '../simulation/random.js';
import { defaultProfile, differences } from './compare-world.js';
import { randomWorld } from './world.js';

/** `npm run scheduling -- worlds` compares 50,000. */
const worldCount = 300;
/** A planted fault is found in one of the first worlds. */
const searchedWorldCount = 1_000;

function firstDifference(profile: Profile, count = searchedWorldCount): string | undefined {
  for (let seed = 0; seed < count; seed++) {
    const [difference] = differences(randomWorld(new Random(seed)), profile);
    if (difference !== undefined) return `seed ${seed}: ${difference}`;
  }
  return undefined;
}

describe('the scheduler and the naive scheduler', () => {
  const profile = defaultProfile();

  it('find the same feasible nodes and scores', () => {
    expect(firstDifference(profile, worldCount)).toBeUndefined();
  });

  it.each(profile.filters.map(({ name }) => name).filter((name) => isModelled(name)))(
    'differ without the filter %s',
    (name) => {
      const filters = profile.filters.filter((plugin) => plugin.name !== name);
      expect(firstDifference({ ...profile, filters })).toContain('feasible');
    },
  );

  it.each(profile.scores.map(({ plugin }) => plugin.name))(
    'differ without the score %s',
    (name) => {
      const scores = profile.scores.filter(({ plugin }) => plugin.name !== name);
      expect(firstDifference({ ...profile, scores })).toContain(name);
    },
  );
});

/** The worlds have two of the kinds of limited volumes, and no pod that requires a node by name. */
function isModelled(filter: string): boolean {
  return !/^(NodeName|GCEPDLimits|AzureDiskLimits)$/.test(filter);
}
