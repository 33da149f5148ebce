import { ManualClock, SimDisk } from '@orch/raft';
import { expect, it } from 'vitest';
import { emptyFacts } from '../core/state-machine.js';
import { StateDatabase } from './state-database.js';

it('StateDatabase retains the swept revision when it returns to an earlier state', async () => {
  const faults = { syncMs: [0, 0], writeMs: [0, 0], readMs: [0, 0] } as const;
  const disk = new SimDisk({ clock: new ManualClock(), random: () => 0.5, faults });
  const database = await StateDatabase.open(disk, '/state');
  const drop = (compactedRevision: number) => {
    const facts = { ...emptyFacts, revision: 9, compactedRevision };
    return database.write([
      { puts: [], drops: [{ revision: 1, position: 0 }], proposers: new Map(), facts },
    ]);
  };
  await drop(6);
  await database.returnTo({
    facts: { ...emptyFacts, revision: 4, compactedRevision: 2 },
    proposers: new Map(),
  });
  await drop(3);
  expect(await database.readSwept()).toBe(6);
  await database.close();
  const again = await StateDatabase.open(disk, '/state');
  expect(await again.readSwept()).toBe(6);
  await again.close();
});
