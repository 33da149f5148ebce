/**
 * Measures the rate at which the pure scheduling cycle places pods on 100, 1,000 and 5,000 nodes
 * with 30 existing pods each, without server and bindings. `npm run bench -- scheduling`; `--short`
 * places fewer pods; `node test/bench/scheduling.mjs --nodes N --only TEXT` measures a part. A
 * preemption is the choice of its victims. On a machine with other load, compare the rates per CPU
 * second. The memory is that of the process, with the clusters of earlier rows.
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import {
  buildProfile,
  Cycle,
  chooseBest,
  chooseCandidate,
  defaultPluginSets,
  findFeasible,
  movePod,
  rejectionOf,
  scoreNodes,
} from '../../dist/libs/scheduling/src/index.js';
import { count, printRow } from './row.mjs';
import { clusterOf, mixes, newAssumptions, objects, random } from './scheduling-cluster.mjs';

const { values } = parseArgs({
  strict: false,
  options: {
    short: { type: 'boolean', default: false },
    nodes: { type: 'string' },
    only: { type: 'string', default: '' },
  },
});
const podsPerNode = 30;
/** A multiple of the number of groups. */
const warmUpCount = 50;
const limits = values.short ? { pods: 500, ms: 3_000 } : { pods: 10_000, ms: 15_000 };
const nodeCounts = values.nodes ? [Number(values.nodes)] : [100, 1_000, 5_000];

const profile = buildProfile(
  {
    schedulerName: 'default-scheduler',
    sets: defaultPluginSets('DefaultProvider', true),
    args: new Map(),
    source: 'bench',
  },
  { hasDefaultSpread: true, ignoredResources: [] },
);
const preemptionInput = (rejections) => ({
  rejections,
  simulate: (cycle, node) => rejectionOf(cycle, profile, node),
  move: (cycle, node, pod, sign) => movePod(cycle, profile, node, pod, sign),
});

/** Returns the position at which the next search starts. */
function schedule(cache, cycle, start) {
  const found = findFeasible(cycle, profile, {
    ...{ start, percentageOfNodesToScore: 0, prefersNominatedNode: false },
  });
  if (found.feasible.length > 0) {
    const { totals } = scoreNodes(cycle, profile, found.feasible);
    cache.assume(cycle.pod, chooseBest(found.feasible, totals, random).name);
    return found.nextStart;
  }
  const { candidates } = profile.postFilters[0].postFilter(
    cycle,
    preemptionInput(found.rejections),
  );
  const best = chooseCandidate(candidates);
  if (!best) throw new Error('no feasible node and no candidate');
  for (const victim of best.victims) cache.removePod(victim.key);
  cache.assume(cycle.pod, best.node);
  return found.nextStart;
}

function measure(nodeCount, title, { podOf, isFull }) {
  const existing = nodeCount * podsPerNode;
  const cache = clusterOf(nodeCount, existing, isFull);
  const assumptions = newAssumptions();
  // All pods fit below the maximum of pods of a node.
  const podCount = Math.min(limits.pods, nodeCount * podsPerNode);
  let start = 0;
  const place = (index) => {
    const cycle = new Cycle(podOf(index), {
      ...{ cluster: cache.snapshot(), objects, assumptions, random, nominatedPods: () => [] },
    });
    start = schedule(cache, cycle, start);
  };
  // The first pods create the snapshot and count the pods of their group on every node.
  for (let index = 0; index < warmUpCount; index++) place(index);
  const durationsMs = [];
  const [startMs, startCpu] = [performance.now(), process.cpuUsage()];
  while (durationsMs.length < podCount && performance.now() - startMs < limits.ms) {
    const beganMs = performance.now();
    place(warmUpCount + durationsMs.length);
    durationsMs.push(performance.now() - beganMs);
  }
  const seconds = (performance.now() - startMs) / 1_000;
  const { user, system } = process.cpuUsage(startCpu);
  const placed = durationsMs.length;
  durationsMs.sort((a, b) => a - b);
  const quantile = (share) => durationsMs[Math.ceil(placed * share) - 1].toFixed(1);
  const memory = `${Math.round(process.memoryUsage.rss() / 1e6)} MB`;
  const perCpuSecond = count((placed * 1_000_000) / (user + system));
  const detail = `${perCpuSecond} per CPU second, ${nodeCount} nodes, ${existing} pods, ${placed} placed, p99 ${quantile(0.99)} ms, longest ${quantile(1)} ms, ${memory}, load ${loadavg()[0].toFixed(1)}`;
  printRow(`schedule pods, ${title}`, `${count(placed / seconds)}/s`, detail);
}

for (const nodeCount of nodeCounts) {
  for (const [title, mix] of Object.entries(mixes)) {
    if (title.includes(values.only)) measure(nodeCount, title, mix);
  }
}
