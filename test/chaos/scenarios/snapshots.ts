/**
 * A follower so far behind that it needs a snapshot, over a link that breaks during the transfer.
 */
import { readFileSync } from 'node:fs';
import type { Run } from '../run.js';
import type { Scenario } from '../scenario.js';
import { eventually } from '../support/wait.js';
import { writeUntil } from '../support/writer-pool.js';

/** The log retains ten thousand entries for members that are behind. */
const fillerBytes = 1_000;
const burstTimeoutMs = 420_000;
const sendTimeoutMs = 90_000;
/** So slow that a transfer takes seconds. */
const narrowBytesPerSecond = 4 * 1024 * 1024;
const interruptions = 2;
const interruptAfterMs = 1_500;

async function fallBehind(run: Run): Promise<void> {
  const { cluster } = run;
  const [follower] = await cluster.followers();
  const leader = await cluster.leader();
  const behind = (await cluster.operator.leader())?.lastIndex ?? 0;
  run.fault('kill a follower for long');
  await run.kill(follower!);
  const count = await writeUntil(cluster, fillerBytes, burstTimeoutMs, async () => {
    const firstIndex = (await cluster.operator.leader())?.firstIndex ?? 0;
    return firstIndex > behind + 1;
  });
  run.say(`${count} writes compacted the log`);
  const narrow = cluster.proxy.between(leader.name, follower!.name);
  narrow.set({ bytesPerSecond: narrowBytesPerSecond });
  const linesBefore = sent(leader.process.logFile);
  cluster.launch(follower!);
  for (let time = 0; time < interruptions; time += 1) {
    const linkKey = `${leader.name}>${follower!.name}`;
    await eventually('a link to the follower', sendTimeoutMs, () =>
      cluster.proxy.open.includes(linkKey),
    );
    await run.work(interruptAfterMs);
    run.fault('interrupt the transfer');
    cluster.proxy.drop(leader.name, follower!.name);
  }
  narrow.set({ bytesPerSecond: Number.POSITIVE_INFINITY });
  await cluster.ready([follower!], sendTimeoutMs);
  const after = sent(leader.process.logFile);
  run.say(
    `${after.failed - linesBefore.failed} sendings failed, ${after.done - linesBefore.done} ended`,
  );
  run.expect(after.done > linesBefore.done, 'no snapshot was sent', `by ${leader.name}`);
}

function sent(logFile: string): { readonly done: number; readonly failed: number } {
  const text = readFileSync(logFile, 'utf8');
  return {
    done: text.split(' snapshot sent ').length - 1,
    failed: text.split(' sending a snapshot failed ').length - 1,
  };
}

export const snapshotScenarios: readonly Scenario[] = [
  {
    number: 22,
    name: 'far-behind',
    shows: 'a follower that needs a snapshot gets it although the transfer is interrupted twice',
    gate: { acknowledged: 150, faults: 3, failovers: 0 },
    run: fallBehind,
  },
];
