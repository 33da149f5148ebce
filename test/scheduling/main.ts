/** Compares the scheduler with the naive one on many worlds: see `scripts/scheduling.mjs`. */
import { parseArgs } from 'node:util';
import { Random } from '../simulation/random.js';
import { defaultProfile, differences } from './compare-world.js';
import { randomWorld } from './world.js';

const { values } = parseArgs({
  options: { worlds: { type: 'string', default: '50000' }, seed: { type: 'string', default: '1' } },
});
const [worldCount, firstSeed] = [Number(values.worlds), Number(values.seed)];
if (!Number.isSafeInteger(worldCount) || worldCount < 1 || !Number.isSafeInteger(firstSeed)) {
  console.error('--worlds: want a whole number from 1 up; --seed: want a whole number');
  process.exit(2);
}
const profile = defaultProfile();
for (let seed = firstSeed; seed < firstSeed + worldCount; seed++) {
  const world = randomWorld(new Random(seed));
  const found = differences(world, profile);
  if (found.length === 0) continue;
  console.error(`${found.join('\n')}\n${JSON.stringify(world, null, 2)}`);
  console.error(`repeat: npm run scheduling -- worlds --worlds 1 --seed ${seed}`);
  process.exit(1);
}
console.log(`${worldCount} worlds from seed ${firstSeed}: the scheduler and the naive one agree`);
