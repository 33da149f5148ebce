/**
 * The simulated disk behaves as the real one does: any changes, any range, across closings and
 * crashes.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@orch/component';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Change, Database, Range } from '../storage/disk/disk.js';
import { FileDisk } from '../storage/disk/file-disk.js';
import { SimDisk } from './sim-disk.js';

const logFormat = { kind: 'log', version: 2 } as const;
const databaseOptions = { writeBufferBytes: 1024 * 1024, cacheBytes: 1024 * 1024 };

const key = fc
  .uint8Array({ minLength: 1, maxLength: 2 })
  .map((bytes) => Buffer.from(bytes.map((byte) => byte & 0xc3)));
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({
    kind: fc.constant('put' as const),
    key,
    value: fc.uint8Array({ maxLength: 9 }).map((bytes) => Buffer.from(bytes)),
  }),
  fc.record({ kind: fc.constant('delete' as const), key }),
);
const range: fc.Arbitrary<Range> = fc.record(
  {
    gt: key,
    gte: key,
    lt: key,
    lte: key,
    reverse: fc.boolean(),
    limit: fc.integer({ min: 1, max: 9 }),
  },
  { requiredKeys: [] },
);
const step = fc.oneof(
  fc.record({
    kind: fc.constant('write' as const),
    changes: fc.array(change, { minLength: 1, maxLength: 6 }),
  }),
  fc.record({ kind: fc.constant('read' as const), range }),
  fc.record({ kind: fc.constant('view' as const) }),
  fc.record({ kind: fc.constant('reopen' as const) }),
);

async function read(database: Database, wanted: Range): Promise<string[]> {
  const rows = database.rows(wanted);
  const found: string[] = [];
  for (;;) {
    const slice = await rows.next(3);
    if (slice.length === 0) break;
    found.push(...slice.map(([name, value]) => `${name.toString('hex')}=${value.toString('hex')}`));
  }
  await rows.close();
  return found;
}

it('gives the same results as the real disk', { timeout: 60_000 }, async () => {
  const sim = new SimDisk({ clock: systemClock, random: () => 0.5, faults: { syncMs: [0, 0] } });
  const parent = await mkdtemp(join(tmpdir(), 'disk-twins-'));
  let count = 0;
  const run = fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
    count += 1;
    const directory = join(parent, `${count}`);
    const open = () =>
      Promise.all(
        [new FileDisk(), sim].map((disk) =>
          disk.openDatabase(directory, logFormat, databaseOptions),
        ),
      );
    let twins = await open();
    let views = twins.map((twin) => twin.view());
    for (const next of steps) {
      if (next.kind === 'write') {
        for (const twin of twins) await twin.write(next.changes, { sync: false });
        const { key: touched } = next.changes[0]!;
        const [real, simulated] = twins.map((twin) => twin.getSync(touched)?.toString('hex'));
        expect(simulated).toBe(real);
      } else if (next.kind === 'read') {
        for (const asOf of [undefined, views]) {
          const [real, simulated] = await Promise.all(
            twins.map((twin, at) =>
              read(twin, asOf ? { ...next.range, view: asOf[at]! } : next.range),
            ),
          );
          expect(simulated).toEqual(real);
        }
      } else {
        for (const view of views) await view.close();
        if (next.kind === 'reopen') {
          for (const twin of twins) await twin.close();
          twins = await open();
        }
        views = twins.map((twin) => twin.view());
      }
    }
    for (const view of views) await view.close();
    for (const twin of twins) await twin.close();
  });
  try {
    await fc.assert(run, { numRuns: 40 });
  } finally {
    await rm(parent, { recursive: true, force: true });
  }
});
