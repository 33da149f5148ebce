import { ManualClock, SimDisk } from '@orch/raft';
import { expect, it } from 'vitest';
import { EMPTY_FACTS, StateMachine } from '../core/state-machine.js';
import { StateDatabase } from '../shell/state-database.js';
import { StateWriter } from '../shell/state-writer.js';
import { openOutgoing } from './outgoing.js';

it('is of a database that says what it holds', async () => {
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
  await database.writeFacts(EMPTY_FACTS);
  const outgoing = await openOutgoing({ machine, writer, database });
  expect(outgoing.facts).toEqual(EMPTY_FACTS);
  await outgoing.close();
  await database.close();
  expect(fatal).toEqual([]);
});
