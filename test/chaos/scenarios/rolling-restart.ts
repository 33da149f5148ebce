/** Servers restart sequentially by SIGTERM: no watcher has to list again. */
import { truthOf } from '../checks/truth.js';
import { resources } from '../load/keys.js';
import type { Run } from '../run.js';
import type { Scenario } from '../scenario.js';
import { ResumingWatch } from '../support/resuming-watch.js';
import { eventually } from '../support/wait.js';
import { WatchConnections } from '../support/watch-connections.js';

const watchCount = 1_000;
const openTimeoutMs = 60_000;
const deliveryTimeoutMs = 90_000;

async function restartEach(run: Run): Promise<void> {
  const { watchers } = run.load;
  const before = watchers.relists;
  for (const member of run.cluster.current()) {
    run.fault('restart a server');
    const exit = await member.process.stop();
    run.expect(exit === '0', 'did not end cleanly', `${member.name} ended with ${exit}`);
    await run.restart(member);
    await run.work(1_000);
  }
  const relists = watchers.relists - before;
  run.expect(relists === 0, 'watchers had to list again', `${relists} times`);
}

/** Compares the revisions of a watch with all revisions of its kind. */
function compare(seen: readonly number[], wanted: readonly number[]) {
  const distinct = new Set(seen);
  const known = new Set(wanted);
  return {
    gaps: wanted.filter((revision) => !distinct.has(revision)).length,
    duplicates: seen.length - distinct.size,
    strangers: [...distinct].filter((revision) => !known.has(revision)).length,
    disordered: seen.filter((revision, at) => at > 0 && revision < seen[at - 1]!).length,
  };
}

/** Restarts the servers under a thousand watches, each of all events of one kind. */
async function restartUnderWatches(run: Run): Promise<void> {
  const { cluster, load } = run;
  const start = load.watchers.revisionSeen;
  const connections = new WatchConnections(cluster.certificates.authorityPem);
  const watches = Array.from({ length: watchCount }, (_, at) => {
    const options = {
      resource: resources[at % resources.length]!,
      next: () => load.anyTarget(),
      onUnexpected: (detail: string) => load.notes.surprise(detail),
    };
    return new ResumingWatch(connections, options, start);
  });
  try {
    await eventually('all watches to be open', openTimeoutMs, () =>
      watches.every(({ isOpen }) => isOpen),
    );
    await restartEach(run);
    await load.settle();
    await expectAll(run, watches, start);
  } finally {
    for (const watch of watches) watch.stop();
    connections.close();
    load.resume();
  }
}

async function expectAll(
  run: Run,
  watches: readonly ResumingWatch[],
  start: number,
): Promise<void> {
  const happened = truthOf(run.load.watchers.witnesses).log.filter(
    ({ revision }) => revision > start,
  );
  const sums = { streams: 0, events: 0, relists: 0 };
  const faults = { gaps: 0, duplicates: 0, strangers: 0, disordered: 0 };
  for (const watch of watches) {
    const wanted = happened
      .filter(({ key }) => key.startsWith(`${watch.options.resource}/`))
      .map(({ revision }) => revision);
    const last = wanted.at(-1) ?? 0;
    await eventually(`a watch of many to reach ${last}`, deliveryTimeoutMs, () => {
      return watch.relistCount > 0 || watch.revision >= last;
    });
    const found = compare(watch.revisions, wanted);
    for (const name of Object.keys(found) as (keyof typeof found)[]) faults[name] += found[name];
    sums.streams += watch.streamCount;
    sums.events += watch.revisions.length;
    sums.relists += watch.relistCount;
  }
  const detail = JSON.stringify({ watches: watches.length, ...sums, ...faults });
  run.say(detail);
  const wrong = sums.relists + Object.values(faults).reduce((sum, count) => sum + count, 0);
  run.expect(wrong === 0, 'watches did not resume completely', detail);
  run.expect(sums.streams > watches.length, 'no watch had to resume', detail);
}

export const rollingRestartScenarios: readonly Scenario[] = [
  {
    number: 24,
    name: 'rolling-restart',
    shows: 'servers restart sequentially by SIGTERM: leadership moves, watches resume',
    gate: { acknowledged: 200, faults: 3, failovers: 1 },
    run: restartEach,
  },
  {
    number: 124,
    name: 'rolling-restart-watches',
    shows: 'a thousand watches resume on other servers: no relist, no gap, no duplicate',
    load: { clientCount: 6, thinkMs: 60 },
    gate: { acknowledged: 200, faults: 3, failovers: 1 },
    run: restartUnderWatches,
  },
];
