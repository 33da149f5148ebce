/**
 * How many pods a second the pure scheduling cycle places on 1,000 nodes: no server, no bindings.
 * `npm run bench -- scheduling`.
 */
import {
  ClusterCache,
  filterPlugins,
  podInfo,
  runCycle,
  scorePlugins,
} from '../../dist/libs/scheduling/src/index.js';
import { count, printRow } from './row.mjs';

const nodeCount = 1_000;
const podCount = process.argv.includes('--short') ? 1_000 : 10_000;
const clock = { monotonicMs: () => performance.now() };
let seed = 42;
const random = () => {
  seed = (seed * 16_807) % 2_147_483_647;
  return seed / 2_147_483_647;
};

function cluster() {
  const cache = new ClusterCache(clock);
  for (let index = 0; index < nodeCount; index++) {
    cache.setNode({
      metadata: { name: `node-${index}`, labels: { zone: `zone-${index % 3}` } },
      status: { allocatable: { cpu: '32', memory: '128Gi', pods: '110' } },
    });
  }
  return cache;
}

function pod(index, spec) {
  return podInfo({
    metadata: {
      name: `pod-${index}`,
      namespace: 'default',
      uid: `${index}`,
      labels: { app: `app-${index % 50}` },
    },
    spec: {
      containers: [
        { name: 'app', image: 'app', resources: { requests: { cpu: '100m', memory: '64Mi' } } },
      ],
      ...spec,
    },
  });
}

function measure(title, specOf) {
  const cache = cluster();
  const context = {
    cluster: cache,
    namespaceLabels: () => undefined,
    defaultSpread: () => [],
    hardPodAffinityWeight: 1,
  };
  const plugins = { filters: filterPlugins, scores: scorePlugins('DefaultProvider') };
  let start = 0;
  let longestMs = 0;
  const startMs = performance.now();
  for (let index = 0; index < podCount; index++) {
    const beganMs = performance.now();
    const info = pod(index, specOf(index));
    const result = runCycle(info, context, plugins, { start, percentageOfNodesToScore: 0, random });
    start = result.nextStart;
    if (result.node === undefined) throw new Error(result.message);
    cache.assume(info, result.node);
    longestMs = Math.max(longestMs, performance.now() - beganMs);
  }
  const seconds = (performance.now() - startMs) / 1_000;
  const detail = `${nodeCount} nodes, longest cycle ${longestMs.toFixed(1)} ms`;
  printRow(`schedule pods, ${title}`, `${count(podCount / seconds)}/s`, detail);
}

measure('plain', () => ({}));
measure('zone spread', (index) => ({
  topologySpreadConstraints: [
    {
      maxSkew: 5,
      topologyKey: 'zone',
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: { matchLabels: { app: `app-${index % 50}` } },
    },
  ],
}));
