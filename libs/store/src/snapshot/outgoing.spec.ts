import { ManualClock, SimDisk } from '@orch/raft';
import { expect, it } from 'vitest';
import { emptyFacts, StateMachine } from '../core/state-machine.js';
import { StateDatabase } from '../state/state-database.js';
import { StateWriter } from '../state/state-writer.js';
import { openOutgoing } from './outgoing.js';

it('openOutgoing rejects a database without facts', async () => {
  const clock = new ManualClock();
  const faults = { syncMs: [0, 0], writeMs: [0, 0], readMs: [0, 0] } as const;
  const disk = new SimDisk({ clock, random: () => 0.5, faults });
  const database = await StateDatabase.open(disk, '/state');
  const fatal: Error[] = [];
  const machine = new StateMachine(10, 1_000);
  const writer = new StateWriter(
    database,
    clock,
    machine.facts,
    () => undefined,
    (error) => fatal.push(error),
    undefined,
  );
  await expect(openOutgoing({ machine, writer, database })).rejects.toMatchObject({
    code: 'Corrupt',
  });
  await database.writeFacts(emptyFacts);
  const outgoing = await openOutgoing({ machine, writer, database });
  expect(outgoing.facts).toEqual(emptyFacts);
  await outgoing.close();
  await database.close();
  expect(fatal).toEqual([]);
});
