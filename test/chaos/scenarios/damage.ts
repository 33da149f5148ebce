/** Changed bytes on a disk: detected at start and never served. */
import { rmSync } from 'node:fs';
import type { Run } from '../run.js';
import type { Scenario } from '../scenario.js';
import type { Member } from '../support/chaos-cluster.js';
import { type DamagedPlace, damage, damagedPlaces } from '../support/damage.js';
import { eventually } from '../support/wait.js';
import { grow, shrink } from './membership.js';

const startTimeoutMs = 60_000;

/** Returns whether the server recovered, by itself or from the leader, or refused its files. */
async function outcomeOf(run: Run, member: Member): Promise<'ready' | 'refused'> {
  return eventually(`${member.name} to start or refuse`, startTimeoutMs, async () => {
    if (!member.process.isRunning) return 'refused';
    const { status } = await run.cluster.operator.health(member.url, '/readyz');
    return status === 200 ? 'ready' : undefined;
  });
}

async function damageOne(run: Run, place: DamagedPlace, replacement: string): Promise<void> {
  const [victim] = await run.cluster.followers();
  await run.kill(victim!);
  run.fault(`damage the ${place} of a follower`);
  run.say(damage(victim!, place, 0.3 + run.random.next() * 0.4));
  run.cluster.launch(victim!);
  victim!.process.expectEnd();
  const outcome = await outcomeOf(run, victim!);
  run.say(`${victim!.name}: ${outcome}`);
  if (outcome === 'ready') return;
  const { lastExit } = victim!.process;
  run.expect(
    lastExit === '7',
    'damaged files',
    `${victim!.name} ended with ${lastExit}, expected 7`,
  );
  await shrink(run, victim!);
  rmSync(victim!.dataDirectory, { recursive: true });
  await grow(run, replacement);
}

export const damageScenarios: readonly Scenario[] = [
  {
    number: 20,
    name: 'damaged-files',
    shows:
      'a changed byte in log, mark or state is detected: repaired from the leader or refused, never served',
    gate: { acknowledged: 200, faults: 4, failovers: 0 },
    async run(run) {
      for (const [at, place] of damagedPlaces.entries()) {
        await run.load.acknowledges(40, 60_000);
        await damageOne(run, place, `m${at + 4}`);
      }
    },
  },
];
