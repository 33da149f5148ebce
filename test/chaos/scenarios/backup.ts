/** A backup taken under load is restored to a new cluster with exactly the same content. */
import { join } from 'node:path';
import { ReplayedState } from '../../history/replayed-state.js';
import { truthOf } from '../checks/truth.js';
import { collectionPath, isLoadKey, type LoadList, resources, versionOf } from '../load/keys.js';
import type { Run } from '../run.js';
import type { Scenario } from '../scenario.js';
import { orchctl } from '../support/orchctl.js';

const restoredToken = 'restored';
const acknowledgedMin = 150;

async function backUpAndRestore(run: Run): Promise<void> {
  const { cluster, load } = run;
  const file = join(cluster.directory, 'backup');
  run.fault('back up under load');
  const saved = await orchctl(cluster, 'cluster', 'snapshot', 'save', file);
  run.say(saved.trim());
  const revision = Number(/revision (\d+)/.exec(saved)?.[1]);
  await load.acknowledges(60, 60_000);
  await run.finish(acknowledgedMin);
  const wanted = new ReplayedState(truthOf(load.watchers.witnesses).log);
  run.fault('restore into new directories');
  for (const member of cluster.current()) {
    member.dataDirectory = `${member.dataDirectory}-restored`;
    await orchctl(
      cluster,
      ...['cluster', 'snapshot', 'restore', file, '--data-dir', member.dataDirectory],
      ...['--member-name', member.name, '--initial-cluster', cluster.founders],
      ...['--initial-cluster-token', restoredToken],
    );
    member.flags.push(`--initial-cluster-token=${restoredToken}`);
  }
  await cluster.startAll();
  const { url } = await cluster.leader();
  for (const resource of resources) {
    const path = `${url}${collectionPath(resource)}`;
    const list = (await cluster.client.send('GET', path)).body as LoadList;
    const found = list.items
      .map((item) => versionOf(resource, item))
      .filter(({ key }) => isLoadKey(key));
    const contents = (versions: readonly { key: string; value: string }[]) =>
      versions.map(({ key, value }) => `${key}=${value}`).join(' ');
    run.expect(
      contents(found) === contents(wanted.list(`${resource}/`, revision)),
      'restored something else',
      `${contents(found)} instead of ${contents(wanted.list(`${resource}/`, revision))}`,
    );
    const old = await cluster.client.send('GET', `${path}?watch=true&resourceVersion=${revision}`);
    run.expect(
      old.status === 410 || JSON.stringify(old.body).includes('410'),
      'a watch of the old cluster resumed',
      JSON.stringify(old.body).slice(0, 300),
    );
  }
  const check = await cluster.operator.check();
  run.expect(check.consistent, 'servers differ', JSON.stringify(check));
}

export const backupScenarios: readonly Scenario[] = [
  {
    number: 27,
    name: 'backup-restore',
    shows:
      'a backup under load has one complete revision; after the restore old watches end with 410',
    gate: { acknowledged: acknowledgedMin, faults: 2, failovers: 0 },
    run: backUpAndRestore,
  },
];
