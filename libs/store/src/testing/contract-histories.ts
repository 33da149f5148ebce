/** Contract of `VersionedStore`. Random histories, compared with a naive implementation. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Operation, Revision } from '../versioned-store.js';
import { type ContractSuite, keyA, keyB, keyC, podsPrefix } from './contract-suite.js';
import { exact, object, showList, WatchRecorder, waitMs } from './harness.js';
import { NaiveStore } from './naive-store.js';

/** `historyCount`: the number of random histories. */
export function describeHistories(suite: ContractSuite, historyCount: number): void {
  it('equals its naive twin at every revision, through restarts', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(arbitraryStep, { minLength: 1, maxLength: 40 }), async (steps) => {
        await suite.destroy();
        await suite.start();
        await compareWithTwin(suite, steps);
      }),
      { numRuns: historyCount, endOnFailure: true },
    );
  });
}

async function compareWithTwin(suite: ContractSuite, steps: readonly Step[]): Promise<void> {
  const twin = new NaiveStore();
  let recorders: { from: number; recorder: WatchRecorder }[] = [];
  const check = async () => {
    for (const { from, recorder } of recorders) {
      await recorder.reached(twin.revision);
      expect(recorder.show()).toEqual(twin.events(podsPrefix, from));
    }
  };
  for (const step of steps) {
    if (step.kind === 'restart') {
      await check();
      recorders = [];
      await suite.reopen();
    } else if (step.kind === 'watch') {
      const from = Math.floor(step.share * twin.revision);
      recorders.push({ from, recorder: new WatchRecorder(suite.store, podsPrefix, from) });
    } else {
      const { succeeded, revision } = await suite.store.commit(step.operations, waitMs);
      expect(succeeded).toBe(twin.commit(step.operations));
      expect(revision).toBe(twin.revision);
    }
  }
  await check();
  for (let revision = 0; revision <= twin.revision; revision += 1) {
    for (const prefix of ['', podsPrefix, 'core/pods/ns/']) {
      const found = await suite.store.list(prefix, exact(revision));
      expect(showList(found)).toEqual(twin.list(prefix, revision));
    }
  }
}

type Step =
  | { readonly kind: 'commit'; readonly operations: Operation[] }
  | { readonly kind: 'watch'; readonly share: number }
  | { readonly kind: 'restart' };

const arbitraryKey = fc.constantFrom(
  keyA,
  keyB,
  keyC,
  'core/pods/ns/a2',
  'apps/deployments/ns/d',
  'core/nodes/n',
);
const arbitraryExpectation = fc.oneof(
  { weight: 6, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constant({ kind: 'absent' } as const) },
  {
    weight: 2,
    arbitrary: fc
      .integer({ min: 1, max: 20 })
      .map((revision) => ({ kind: 'revision', revision: revision as Revision }) as const),
  },
);
const arbitraryOperation: fc.Arbitrary<Operation> = fc
  .tuple(
    arbitraryKey,
    fc.constantFrom('put', 'put', 'delete', 'final'),
    fc.nat(99),
    arbitraryExpectation,
  )
  .map(([key, kind, text, expected]): Operation => {
    const condition = expected ? { expect: expected } : {};
    const { bytes, revisionOffset } = object(`${text}`);
    if (kind === 'put') return { kind, key, bytes, revisionOffset, ...condition };
    if (kind === 'delete') return { kind, key, ...condition };
    return { kind: 'delete', key, lastBytes: bytes, revisionOffset, ...condition };
  });
const arbitraryStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .uniqueArray(arbitraryOperation, { minLength: 1, maxLength: 3, selector: ({ key }) => key })
      .map((operations): Step => ({ kind: 'commit', operations })),
  },
  {
    weight: 3,
    arbitrary: fc
      .double({ min: 0, max: 1, noNaN: true })
      .map((share): Step => ({ kind: 'watch', share })),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'restart' }) },
);
