/**
 * Two builds in one cluster: servers are replaced sequentially under load, and back. Each build
 * leads once.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Run } from '../run.js';
import type { Scenario } from '../scenario.js';
import type { Member } from '../support/chaos-cluster.js';
import { makeNextBuild, nextVersion } from '../support/next-build.js';
import { apiServerMain } from '../support/repository.js';
import { eventually } from '../support/wait.js';

const movedTimeoutMs = 30_000;
const reportTimeoutMs = 30_000;
const workMs = 1_500;

/** Stops a server like an operator and starts the other program. Returns the length of its log. */
async function replace(run: Run, member: Member, program: string): Promise<number> {
  run.fault(`${member.name} runs ${program === apiServerMain ? 'this' : 'the next'} build`);
  const exit = await member.process.stop();
  run.expect(exit === '0', 'did not end cleanly', `${member.name} ended with ${exit}`);
  const { size } = statSync(member.process.logFile);
  member.program = program;
  await run.restart(member);
  await run.work(workMs);
  return size;
}

async function lead(run: Run, member: Member): Promise<void> {
  const { operator } = run.cluster;
  await eventually(`${member.name} to lead`, movedTimeoutMs, async () => {
    if ((await operator.leader())?.name === member.name) return true;
    run.say(`transfer leadership to ${member.name}`);
    await operator.request('POST', '/cluster/leader', { to: member.name });
    return false;
  });
}

/**
 * Replaces the followers first, the leader last. The first replaced server becomes the leader,
 * works, and is killed as leader, so that each build leads the other, follows it and takes over
 * from it.
 */
async function replaceAll(run: Run, program: string, protocols: Protocols): Promise<void> {
  const { cluster } = run;
  const first = (await cluster.followers())[0]!;
  const firstBytes = await replace(run, first, program);
  await lead(run, first);
  await run.work(workMs);
  const since = run.fault(`kill ${first.name}, alone with its build and the leader`);
  await run.kill(first);
  await run.writesBack(since);
  await run.restart(first);
  expectSpoken(run, first, firstBytes, protocols.mixed);
  const leader = await cluster.leader();
  const others = cluster
    .current()
    .filter((member) => member !== first)
    .sort((left, right) => Number(left === leader) - Number(right === leader));
  for (const member of others) {
    const bytes = await replace(run, member, program);
    if (member === others.at(-1)) expectSpoken(run, member, bytes, protocols.alone);
  }
}

/** Waits until the servers report these versions. */
async function expectVersions(run: Run, isNext: boolean): Promise<void> {
  await eventually('all servers to report their version', reportTimeoutMs, async () => {
    const view = await run.cluster.operator.statusAt(run.cluster.current()[0]!.url);
    const versions = view?.members.map(({ version }) => version) ?? [];
    return (
      versions.length === run.cluster.current().length &&
      versions.every((version) => (version === nextVersion) === isNext)
    );
  });
}

/** Versions of the protocol between servers of both builds and of one build. */
interface Protocols {
  readonly mixed: number;
  readonly alone: number;
}

/** Returns the versions that a server negotiated since its log had this length. */
function spoken({ process }: Member, fromByte: number): number[] {
  const log = readFileSync(process.logFile).subarray(fromByte).toString();
  const lines = [...log.matchAll(/connected to peer .*\bprotocolVersion=(\d+)/g)];
  return [...new Set(lines.map(([, version]) => Number(version)))];
}

function expectSpoken(run: Run, member: Member, fromByte: number, wanted: number): void {
  const versions = spoken(member, fromByte).join();
  const detail = `${member.name} speaks ${versions}, ${wanted} is due`;
  run.say(detail);
  run.expect(versions === String(wanted), 'wrong version of the protocol', detail);
}

async function upgradeAndRollBack(run: Run): Promise<void> {
  const { cluster, load } = run;
  const { relists } = load.watchers;
  const next = makeNextBuild(join(cluster.directory, 'next'));
  const [own = 0] = spoken(await cluster.leader(), 0);
  await replaceAll(run, next, { mixed: own, alone: own + 1 });
  await expectVersions(run, true);
  await replaceAll(run, apiServerMain, { mixed: own, alone: own });
  await expectVersions(run, false);
  const count = load.watchers.relists - relists;
  run.expect(count === 0, 'watchers had to list again', `${count} times`);
}

export const upgradeScenarios: readonly Scenario[] = [
  {
    number: 25,
    name: 'upgrade',
    shows:
      'a build with another version and more fields in its messages is installed and removed, no relist',
    gate: { acknowledged: 250, faults: 8, failovers: 4 },
    run: upgradeAndRollBack,
  },
];
