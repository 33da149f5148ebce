/** Many watches, and watches of a short history: from compacted, present and future revisions. */
import { collectionPath } from '../load/keys.js';
import type { Run } from '../run.js';
import type { Scenario } from '../scenario.js';
import { eventually } from '../support/wait.js';
import { type SwarmWatch, WatchSwarm } from '../support/watch-swarm.js';

const aheadRevisions = 100;
/** Longer than the retained history. */
const lastMs = 3_000;
const atOnce = 12;

/**
 * Watches from past, present and future revisions, each for a while. Both must occur: watches that
 * start at their revision, and watches that get 410.
 */
async function watchAround(run: Run, rounds: number): Promise<void> {
  const { watchers } = run.load;
  let before = watchers.revisionSeen;
  for (let round = 0; round < rounds; round += 1) {
    await run.work(lastMs);
    const now = watchers.revisionSeen;
    run.fault('watch from before, now and later');
    const around = Array.from({ length: atOnce }, () =>
      watchers.watchFrom(run.random.between(before, now + aheadRevisions)),
    );
    before = now;
    await run.work(lastMs);
    await Promise.all(around.map((watcher) => watcher.stop()));
  }
  const late = watchers.passing.filter(({ relists }) => relists > 0).length;
  const detail = `${late} of ${watchers.passing.length} watches were too late`;
  run.say(detail);
  run.expect(late > 0 && late < watchers.passing.length, 'history was not short', detail);
}

const watchCount = 10_000;
const slowCount = 100;
const changeCount = 20;
/** Moderate for ten thousand watches; twenty of them exceed the window of a connection. */
const smallBytes = 100;
const largeBytes = 100_000;
const deliveryTimeoutMs = 120_000;

/** Creates objects of a kind sequentially. Returns their revisions. */
async function createMany(run: Run, resource: string, fillerBytes: number): Promise<number[]> {
  const { url } = await run.cluster.leader();
  const annotations = { filler: 'x'.repeat(fillerBytes) };
  const revisions: number[] = [];
  for (let at = 0; at < changeCount; at += 1) {
    const { status, body } = await run.cluster.client.send(
      'POST',
      `${url}${collectionPath(resource)}`,
      { body: { metadata: { name: `mass-${at}`, annotations } } },
    );
    if (status !== 201) throw new Error(`create ${resource}: ${status} ${JSON.stringify(body)}`);
    const { metadata } = body as { metadata: { resourceVersion: string } };
    revisions.push(Number(metadata.resourceVersion));
  }
  return revisions;
}

/**
 * Waits until every watch has all events or was ended, without gaps. Returns how many were ended.
 */
async function delivered(
  run: Run,
  what: string,
  watches: readonly SwarmWatch[],
  wanted: readonly number[],
): Promise<number> {
  const isDone = ({ revisions, end }: SwarmWatch) =>
    end !== undefined || revisions.length >= wanted.length;
  await eventually(`all events to reach ${what}`, deliveryTimeoutMs, () => watches.every(isDone));
  const text = wanted.join();
  for (const { revisions, end } of watches) {
    const isRight =
      end === undefined ? revisions.join() === text : text.startsWith(revisions.join());
    if (isRight) continue;
    run.expect(
      false,
      'watch: not what happened',
      `${what}: ${revisions.join()} of ${text}; ${end}`,
    );
  }
  return watches.filter(({ end }) => end !== undefined).length;
}

/** Ten thousand watches of sequential changes, and a hundred that read nothing until the end. */
async function watchInMasses(run: Run): Promise<void> {
  const { cluster, load } = run;
  // No write of the load may follow it.
  const start = await load.settle();
  const quick = new WatchSwarm(cluster, 'serviceaccounts');
  const slow = new WatchSwarm(cluster, 'configmaps');
  try {
    run.fault(`open ${watchCount} watches, and ${slowCount} that read nothing`);
    quick.open(watchCount, false, start);
    slow.open(slowCount, true, start);
    await eventually('all watches to be open', deliveryTimeoutMs, () => {
      return quick.openCount === watchCount && slow.openCount === slowCount;
    });
    const large = await createMany(run, 'configmaps', largeBytes);
    const small = await createMany(run, 'serviceaccounts', smallBytes);
    const startedMs = performance.now();
    const endedQuick = await delivered(run, 'reading watches', quick.watches, small);
    run.expect(endedQuick === 0, 'watches were ended', `${endedQuick} of ${watchCount}`);
    run.say(`delivered after ${Math.round(performance.now() - startedMs)} ms`);
    run.fault(`${slowCount} watches start to read`);
    for (const watch of slow.watches) watch.resume();
    const endedSlow = await delivered(run, 'slow watches', slow.watches, large);
    run.say(`${endedSlow} of the slow ones were ended`);
  } finally {
    quick.close();
    slow.close();
    load.resume();
  }
}

export const watchScenarios: readonly Scenario[] = [
  {
    number: 30,
    name: 'masses',
    shows:
      'ten thousand watches get every event once, and a hundred that do not read delay no other',
    gate: { acknowledged: 150, faults: 2, failovers: 0 },
    run: watchInMasses,
  },
  {
    number: 31,
    name: 'compaction',
    shows: 'with one second of history, a watch is complete or gets 410',
    cluster: { flags: ['--history-retention=1s'] },
    load: { isHistoryShort: true },
    gate: { acknowledged: 200, faults: 5, failovers: 0 },
    run: (run) => watchAround(run, 5),
  },
];
