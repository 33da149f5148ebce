/**
 * Measures stores with 100,000 objects: the memory, the duration of a restart, the time for a new
 * learner to catch up by a snapshot during writes, and the longest stall of the writers at the
 * leader in this time. Compares with etcd with the same number of keys.
 */
import { performance } from 'node:perf_hooks';
import { freePorts, until } from './bench-files.mjs';
import { Child } from './child.mjs';
import { EtcdCluster } from './etcd-cluster.mjs';
import { residentBytes } from './proc.mjs';
import { count, printRow } from './row.mjs';
import { StoreCluster } from './store-cluster.mjs';

/** About 1,000 commits/s, so that the learner catches up during writes. */
const writers = { callers: 16, pauseMs: 15 };
const idleMs = 3_000;

export async function benchCatchUp({ short }) {
  const objectCount = short ? 15_000 : 100_000;
  for (const memberCount of [1, 3]) {
    const of = memberCount === 1 ? 'one' : 'three';
    await withReplicas(memberCount, of, objectCount);
    await withEtcd(memberCount, of, objectCount);
  }
}

async function withReplicas(memberCount, of, objectCount) {
  const cluster = await StoreCluster.start(memberCount);
  try {
    let leader = await cluster.leader();
    await leader.run('fill', { count: objectCount });
    printMemory(`memory, ${of} with ${count(objectCount)} objects`, cluster);
    const name = [...cluster.members].find(([, child]) => child !== leader)?.[0] ?? 'member-0';
    const { durationMs, keyCount } = await cluster.restart(name);
    printRow(`restart, ${of}, process to ready`, `${count(durationMs)} ms`, `${keyCount} keys`);
    if (memberCount === 1) return;
    leader = await cluster.leader();
    await catchUp('learner by snapshot, three', leader, async () => {
      const startedMs = performance.now();
      const [port] = await freePorts(1);
      const member = {
        id: 'fedcba9876543210',
        name: 'learner',
        peerUrl: `https://127.0.0.1:${port}`,
        clientUrl: 'https://127.0.0.1:6443',
      };
      await leader.run('addLearner', { member });
      const learner = cluster.add(member, 'join');
      const { revision } = await leader.run('replica');
      const { keyCount } = await until('the learner has caught up', async () => {
        const status = await learner.run('replica');
        return status.revision >= revision ? status : undefined;
      });
      return { durationMs: performance.now() - startedMs, keyCount };
    });
  } finally {
    await cluster.stop();
  }
}

async function withEtcd(memberCount, of, objectCount) {
  const etcd = await EtcdCluster.start(memberCount);
  const leader = await etcd.leader();
  const settings = { etcd: { endpoints: [leader.clientUrl], ...etcd.certificates } };
  const store = new Child('store-member.mjs', settings);
  try {
    await store.run('fill', { count: objectCount });
    printMemory(`memory, ${of} etcd, as many`, etcd);
    const { name } = memberCount === 1 ? leader : await etcd.follower();
    const { durationMs, keyCount } = await etcd.restart(name);
    printRow(
      `restart, ${of} etcd, process to ready`,
      `${count(durationMs)} ms`,
      `${keyCount} keys`,
    );
    if (memberCount === 1) return;
    await until('etcd leads again', () => etcd.leader());
    await catchUp('learner, three etcd', store, async () => {
      const startedMs = performance.now();
      const [clientPort, peerPort] = await freePorts(2);
      const peerUrl = `https://127.0.0.1:${peerPort}`;
      const before = await etcd.keyCount(leader);
      const added = { peerURLs: [peerUrl], isLearner: true };
      // Rejected until the other members have been connected for some seconds.
      await until('etcd takes a learner', () => etcd.call(leader, 'cluster/member/add', added));
      etcd.initial += `,learner=${peerUrl}`;
      const clientUrl = `https://127.0.0.1:${clientPort}`;
      const learner = etcd.add({ name: 'learner', clientUrl, peerUrl }, 'existing');
      const keyCount = await until('the learner has caught up', async () => {
        const found = await etcd.keyCount(learner, true);
        return found >= before ? found : undefined;
      });
      return { durationMs: performance.now() - startedMs, keyCount };
    });
  } finally {
    await store.stop();
    await etcd.stop();
  }
}

/**
 * Also measures the writers before the learner joins, to separate the stalls of the machine itself.
 */
async function catchUp(name, store, join) {
  await store.run('beginCommits', writers);
  await new Promise((done) => setTimeout(done, idleMs));
  const before = await store.run('endCommits');
  await store.run('beginCommits', writers);
  const { durationMs, keyCount } = await join();
  const during = await store.run('endCommits');
  printRow(name, `${count(durationMs)} ms`, `${keyCount} keys`);
  for (const [when, figures] of [
    ['before', before],
    ['meanwhile', during],
  ]) {
    printRow(
      `  longest stall of commits ${when}`,
      `${figures.stallMs.toFixed(0)} ms`,
      `${count(figures.perSecond)}/s, p50 ${figures.p50Ms.toFixed(1)} ms, p99 ${figures.p99Ms.toFixed(1)} ms, max ${figures.maxMs.toFixed(0)} ms`,
    );
  }
}

function printMemory(name, { members }) {
  const each = [...members.values()].map(({ pid }) => count(residentBytes(pid) / 1e6));
  printRow(name, `${each.join(', ')} MB`);
}
