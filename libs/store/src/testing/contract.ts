/**
 * The suite that every implementation of `VersionedStore` passes. Call `describeVersionedStore` in
 * a spec file, with a factory of empty stores.
 */
import { afterEach, beforeEach, describe } from 'vitest';
import { describeCommits } from './contract-commits.js';
import { describeHistories } from './contract-histories.js';
import { describeReads } from './contract-reads.js';
import { ContractSuite } from './contract-suite.js';
import { describeWatches } from './contract-watches.js';
import type { StoreHarness } from './harness.js';

export function describeVersionedStore(
  name: string,
  createHarness: () => Promise<StoreHarness>,
  /** The number of random histories that are compared with the naive twin. */
  historyCount = 12,
): void {
  describe(name, () => {
    const suite = new ContractSuite(createHarness);
    beforeEach(() => suite.start());
    afterEach(() => suite.destroy());

    describeCommits(suite);
    describeReads(suite);
    describeWatches(suite);
    describeHistories(suite, historyCount);
  });
}
