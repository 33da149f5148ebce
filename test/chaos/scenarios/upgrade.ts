/** Two builds in one cluster: replaced one server after another under load, each the leader of the other, and back. */
import { readFileSync } from 'node:fs';
import type { Run } from '../run.js';
import type { Scenario } from '../scenario.js';
import type { Member } from '../support/chaos-cluster.js';
import { makeNextBuild, nextVersion } from '../support/next-build.js';
import { apiServerMain } from '../support/repository.js';
import { eventually } from '../support/wait.js';

const movedTimeoutMs = 30_000;
const toldTimeoutMs = 30_000;
const workMs = 1_500;

/** Ends a server as an operator does and starts the other program in its place. */
async function replace(run: Run, member: Member, program: string): Promise<void> {
  run.fault(`${member.name} runs ${program === apiServerMain ? 'this' : 'the next'} build`);
  const exit = await member.process.stop();
  run.expect(exit === '0', 'did not end cleanly', `${member.name} ended with ${exit}`);
  member.program = program;
  await run.restart(member);
  await run.work(workMs);
}

async function lead(run: Run, member: Member): Promise<void> {
  const { operator } = run.cluster;
  await eventually(`${member.name} to lead`, movedTimeoutMs, async () => {
    if ((await operator.leader())?.name === member.name) return true;
    run.say(`move the leader to ${member.name}`);
    await operator.request('POST', '/cluster/leader', { to: member.name });
    return false;
  });
}

/**
 * Followers first, the leader last. The first that is replaced is made the leader of the others, works, and is
 * killed as such, so that each build leads the other, follows it, and takes over from it.
 */
async function replaceAll(run: Run, program: string): Promise<void> {
  const first = (await run.cluster.followers())[0]!;
  await replace(run, first, program);
  await lead(run, first);
  await run.work(workMs);
  const since = run.fault(`kill ${first.name}, alone with its build and the leader`);
  await run.kill(first);
  await run.writesBack(since);
  await run.restart(first);
  for (const member of await run.cluster.followers()) {
    if (member.program !== program) await replace(run, member, program);
  }
  for (const member of run.cluster.current()) {
    if (member.program !== program) await replace(run, member, program);
  }
}

/** Each server says of itself which version it is. */
async function expectVersions(run: Run, isNext: boolean): Promise<void> {
  await eventually('all servers to tell their version', toldTimeoutMs, async () => {
    const view = await run.cluster.operator.statusAt(run.cluster.current()[0]!.url);
    const versions = view?.members.map(({ version }) => version) ?? [];
    return (
      versions.length === run.cluster.current().length &&
      versions.every((version) => (version === nextVersion) === isNext)
    );
  });
}

/** The versions of the protocol that a server has agreed on with others so far. */
function spoken({ process }: Member): Set<number> {
  const log = readFileSync(process.logFile, 'utf8');
  const lines = log.matchAll(/connected to peer .*\bprotocolVersion=(\d+)/g);
  return new Set([...lines].map(([, version]) => Number(version)));
}

async function upgradeAndRollBack(run: Run): Promise<void> {
  const { cluster, load } = run;
  const next = makeNextBuild(`${cluster.directory}/next`);
  const relists = load.watchers.relists;
  await replaceAll(run, next);
  await expectVersions(run, true);
  for (const member of cluster.current()) {
    const versions = spoken(member);
    const detail = `${member.name} speaks ${[...versions].join()}`;
    run.say(detail);
    run.expect(versions.size === 2, 'both versions of the protocol were not spoken', detail);
  }
  await replaceAll(run, apiServerMain);
  await expectVersions(run, false);
  const count = load.watchers.relists - relists;
  run.expect(count === 0, 'watchers had to list again', `${count} times`);
}

export const upgradeScenarios: readonly Scenario[] = [
  {
    number: 25,
    name: 'upgrade',
    shows: 'a build with another version and more fields in its messages comes and goes, no relist',
    gate: { acknowledged: 250, faults: 8, failovers: 4 },
    run: upgradeAndRollBack,
  },
];
