/** The short form of what `npm run fuzz` checks at length: a few objects of every kind, always the same. */
import fc from 'fast-check';
import { describe, it } from 'vitest';
import { kindChangeTargets } from '../fuzz/targets/kind-changes.js';
import { kindWriteTargets } from '../fuzz/targets/kind-writes.js';

const runCount = 300;
const seed = 1;

describe('random objects of every kind', () => {
  it.each([...kindWriteTargets, ...kindChangeTargets])('$name', async ({ property, share }) => {
    await fc.assert(property, { numRuns: Math.ceil(runCount * share), seed });
  });
});
