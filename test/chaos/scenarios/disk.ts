/** Disks that are full, slow or broken, or lose unsynced data. */
import type { Run } from '../run.js';
import type { Scenario } from '../scenario.js';
import { ShimmedDisk, shimUnavailable } from '../support/disk-shim.js';
import { mountUnavailable, SmallDisk } from '../support/small-disk.js';
import { eventually } from '../support/wait.js';

const endTimeoutMs = 30_000;
/** Slower than half an election timeout: a leader with such a disk transfers leadership. */
const slowSyncMs = 700;

/** Restarts the members sequentially on disks with faults. */
async function withShims(run: Run): Promise<Map<string, ShimmedDisk>> {
  const disks = new Map<string, ShimmedDisk>();
  for (const member of run.cluster.current()) {
    disks.set(member.name, ShimmedDisk.install(run.cluster, member));
    await member.process.stop();
    await run.restart(member);
    const disk = disks.get(member.name)!;
    await eventually('syncs to be seen', endTimeoutMs, () => disk.syncCount > 0);
  }
  return disks;
}

/** Kills all servers, removes all unsynced data and starts them again. */
async function failPower(run: Run): Promise<void> {
  const disks = await withShims(run);
  for (let round = 0; round < 3; round += 1) {
    await run.load.acknowledges(30, 30_000);
    run.fault('power failure of all servers');
    const members = run.cluster.current();
    await Promise.all(members.map((member) => run.kill(member)));
    for (const [name, disk] of disks) {
      run.say(`${name} lost ${await disk.loseUnsynced()} bytes`);
    }
    const since = run.load.notes.now();
    for (const member of members) run.cluster.launch(member);
    await run.writesBack(since);
  }
}

export const diskScenarios: readonly Scenario[] = [
  {
    number: 16,
    name: 'full-disk',
    shows: 'a server whose disk is full ends; with free space it restarts with all its data',
    gate: { acknowledged: 150, faults: 2, failovers: 1 },
    unavailable: mountUnavailable,
    cluster: { smallDiskMebibytes: 48 },
    async run(run) {
      for (const which of ['follower', 'leader']) {
        const leader = await run.cluster.leader();
        const member = which === 'leader' ? leader : run.random.pick(await run.cluster.followers());
        const disk: SmallDisk = run.cluster.smallDisk(member);
        member.process.expectEnd();
        const since = run.fault(`fill the disk of a ${which}`);
        disk.fill();
        await member.process.waitForEnd(endTimeoutMs);
        run.expect(
          member.process.lastExit === '7',
          'full disk',
          `${member.name} ended with ${member.process.lastExit}, expected 7`,
        );
        await run.writesBack(since);
        disk.free();
        await run.restart(member);
        await run.work(1_500);
      }
    },
  },
  {
    number: 17,
    name: 'slow-disk',
    shows: 'a leader whose disk is too slow transfers leadership',
    gate: { acknowledged: 150, faults: 1, failovers: 1 },
    unavailable: shimUnavailable,
    async run(run) {
      const disks = await withShims(run);
      const leader = await run.cluster.leader();
      run.fault('slow the disk of the leader down');
      disks.get(leader.name)!.slowDown(slowSyncMs);
      const next = await eventually('another leader', 60_000, async () => {
        const now = await run.cluster.leader();
        return now === leader ? undefined : now;
      });
      run.say(`${next.name} leads`);
      await run.work(3_000);
      disks.get(leader.name)!.heal();
    },
  },
  {
    number: 18,
    name: 'failing-disk',
    shows: 'a server whose sync failed ends immediately and serves nothing more',
    gate: { acknowledged: 150, faults: 1, failovers: 1 },
    unavailable: shimUnavailable,
    async run(run) {
      const disks = await withShims(run);
      const leader = await run.cluster.leader();
      leader.process.expectEnd();
      const since = run.fault('fail the syncs of the leader');
      disks.get(leader.name)!.failSyncs();
      await leader.process.waitForEnd(endTimeoutMs);
      run.expect(
        leader.process.lastExit === '7',
        'failed sync',
        `${leader.name} ended with ${leader.process.lastExit}, expected 7`,
      );
      await run.writesBack(since);
      disks.get(leader.name)!.heal();
      await run.restart(leader);
    },
  },
  {
    number: 19,
    name: 'power-cut',
    shows: 'all servers lose unsynced data, and no acknowledged write is lost',
    gate: { acknowledged: 150, faults: 3, failovers: 3 },
    unavailable: shimUnavailable,
    run: failPower,
  },
  {
    number: 119,
    name: 'power-cut-single',
    shows: 'the same with a cluster of one server',
    cluster: { size: 1 },
    gate: { acknowledged: 100, faults: 3, failovers: 3 },
    unavailable: shimUnavailable,
    run: failPower,
  },
];
