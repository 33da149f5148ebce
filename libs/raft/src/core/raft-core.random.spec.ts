/** Random runs of 3 and 5 cores against an oracle; a failing seed is one exact run. */
import { afterEach, describe, expect, it } from 'vitest';
import { collectMarks, type MarkName } from './coverage-marks.js';
import { RandomRun } from './testing/random-run.js';

const runCount = 12;
const stepsPerRun = 6_000;

/** Branches that each group of runs must reach, or it is no test of them. */
const reachedMarksMin = 48;

afterEach(() => collectMarks(undefined));

describe('a random network', () => {
  for (const voterCount of [3, 5]) {
    for (const membership of [false, true]) {
      it(`keeps ${voterCount} voters safe and alive, members ${membership ? 'change' : 'stay'}`, () => {
        const marks = new Set<MarkName>();
        collectMarks((name) => marks.add(name));
        let committed = 0;
        let terms = 0;
        for (let seed = 1; seed <= runCount; seed += 1) {
          try {
            const run = new RandomRun(seed, voterCount, { restarts: true, membership });
            const result = run.run(stepsPerRun);
            committed += result.committedCount;
            terms += result.terms;
          } catch (error) {
            throw new Error(`seed ${seed} with ${voterCount} voters`, { cause: error });
          }
        }
        // A run in which nothing happens proves nothing.
        expect(committed).toBeGreaterThan(runCount * 20);
        expect(terms).toBeGreaterThan(runCount * 2);
        expect(marks.size).toBeGreaterThan(reachedMarksMin);
      });
    }
  }
});
