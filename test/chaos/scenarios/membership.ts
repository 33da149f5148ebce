/** Members that are added, removed, replaced, wiped or far behind. */
import { rmSync } from 'node:fs';
import type { Run } from '../run.js';
import type { Scenario } from '../scenario.js';
import type { Member } from '../support/chaos-cluster.js';
import { orchctl, tryOrchctl } from '../support/orchctl.js';
import { eventually } from '../support/wait.js';

const promoteTimeoutMs = 60_000;

/** Adds and starts a member with an empty directory, as an operator does. */
export async function addLearner(run: Run, name: string): Promise<Member> {
  const { cluster } = run;
  const member = await cluster.define(name, 'join');
  run.fault('add a learner');
  const args = ['--peer-url', member.peerUrl, '--client-url', member.url];
  await orchctl(cluster, 'cluster', 'add-member', name, ...args);
  cluster.launch(member);
  await cluster.ready([member]);
  run.load.watchers.witness(member, await cluster.revision(member));
  return member;
}

/** Adds a member and promotes it when it has caught up. */
export async function grow(run: Run, name: string): Promise<void> {
  const { cluster } = run;
  await addLearner(run, name);
  run.fault('promote the learner');
  await eventually(`${name} to be promoted`, promoteTimeoutMs, async () => {
    const { code, output } = await tryOrchctl(cluster, ['cluster', 'promote', name]);
    if (code !== 0) run.say(output.trim());
    return code === 0;
  });
}

/** Removes a member, whose process then ends. */
export async function shrink(run: Run, member: Member): Promise<void> {
  member.process.expectEnd();
  run.fault(`remove ${member.name}`);
  await orchctl(run.cluster, 'cluster', 'remove-member', member.name);
  member.isRetired = true;
  run.load.watchers.forget(member);
  await member.process.kill();
}

/** Returns one of the remaining first members: the leader, if it is one of them. */
async function founder({ cluster }: Run): Promise<Member> {
  const founders = cluster.current().filter(({ initialState }) => initialState === 'new');
  const leader = await cluster.leader();
  return founders.find((member) => member === leader) ?? founders[0]!;
}

export const membershipScenarios: readonly Scenario[] = [
  {
    number: 21,
    name: 'wiped-directory',
    shows: 'a member whose directory was wiped is refused under its old id and joins as a new one',
    gate: { acknowledged: 200, faults: 4, failovers: 0 },
    async run(run) {
      const { cluster } = run;
      const [victim] = await cluster.followers();
      run.fault('wipe a follower');
      await run.kill(victim!);
      rmSync(victim!.dataDirectory, { recursive: true });
      cluster.launch(victim!);
      victim!.process.expectEnd();
      await run.work(8_000);
      const { status, text } = await cluster.operator.health(victim!.url, '/readyz?verbose');
      run.expect(status !== 200, 'wiped member took part', text);
      await run.kill(victim!);
      await shrink(run, victim!);
      await grow(run, 'm4');
    },
  },
  {
    number: 23,
    name: 'replace-members',
    shows: 'every first member is replaced, the leader among them, while clients work',
    gate: { acknowledged: 200, faults: 9, failovers: 1 },
    async run(run) {
      for (const name of ['m4', 'm5', 'm6']) {
        await grow(run, name);
        await run.work(1_000);
        const since = run.load.notes.now();
        await shrink(run, await founder(run));
        await run.writesBack(since);
      }
    },
  },
];
