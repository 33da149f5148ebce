/**
 * Synthetic clusters for the scheduling benchmark, in memory: nodes in three zones with existing
 * pods, and the mixes of pods to place.
 */
import { Assumptions, ClusterCache, podInfo } from '../../dist/libs/scheduling/src/index.js';

export const zoneKey = 'topology.orch.io/zone';
export const hostnameKey = 'orch.io/hostname';
const zones = ['zone-0', 'zone-1', 'zone-2'];
const appCount = 50;
const nodeCpu = 32;

let seed = 42;
export function random() {
  seed = (seed * 16_807) % 2_147_483_647;
  return seed / 2_147_483_647;
}

function node(index) {
  const name = `node-${index}`;
  return {
    metadata: { name, labels: { [zoneKey]: zones[index % zones.length], [hostnameKey]: name } },
    status: { allocatable: { cpu: `${nodeCpu}`, memory: '128Gi', pods: '110' } },
  };
}

let podCount = 0;

export function pod({ app = podCount % appCount, cpu = '100m', labels = {}, ...spec } = {}) {
  podCount++;
  const resources = { requests: { cpu, memory: '64Mi' } };
  return podInfo({
    metadata: {
      ...{ name: `pod-${podCount}`, namespace: 'default', uid: `${podCount}` },
      labels: { app: `app-${app}`, ...labels },
    },
    spec: { containers: [{ name: 'app', image: 'app', resources }], ...spec },
  });
}

const selectorOf = (app) => ({ labelSelector: { matchLabels: { app: `app-${app}` } } });

function spread(whenUnsatisfiable) {
  return (index) => {
    const app = index % appCount;
    const constraint = { maxSkew: 5, topologyKey: zoneKey, whenUnsatisfiable, ...selectorOf(app) };
    return pod({ app, topologySpreadConstraints: [constraint] });
  };
}

function preferredAffinity(index) {
  const app = index % appCount;
  const podAffinityTerm = { topologyKey: zoneKey, ...selectorOf(app) };
  const preferred = [{ weight: 1, podAffinityTerm }];
  return pod({
    app,
    affinity: { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } },
  });
}

/** Many small groups, each with one pod per node. */
function antiAffinity(index) {
  const labels = { group: `group-${Math.floor(index / 20)}` };
  const required = [{ topologyKey: hostnameKey, labelSelector: { matchLabels: labels } }];
  return pod({
    labels,
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
  });
}

/** A claim that is bound to a volume of one zone. */
function withVolume(index) {
  return pod({ volumes: [{ name: 'data', persistentVolumeClaim: { claimName: `c-${index}` } }] });
}

/**
 * What to place: the pod, the objects that it depends on, and whether the nodes are full of pods of
 * lower priority.
 */
export const mixes = {
  plain: { podOf: () => pod() },
  'zone spread, soft': { podOf: spread('ScheduleAnyway') },
  'zone spread, hard': { podOf: spread('DoNotSchedule') },
  'pod affinity, preferred': { podOf: preferredAffinity },
  'pod anti-affinity, required': { podOf: antiAffinity },
  'bound volumes': { podOf: withVolume },
  preemption: { podOf: () => pod({ cpu: '2', priority: 1_000 }), isFull: true },
};

export function clusterOf(nodeCount, existingPodCount, isFull = false) {
  const cache = new ClusterCache({ monotonicMs: () => performance.now() });
  for (let index = 0; index < nodeCount; index++) cache.setNode(node(index));
  const perNode = existingPodCount / nodeCount;
  const cpu = isFull ? `${Math.floor((nodeCpu * 1_000) / perNode)}m` : '100m';
  for (let index = 0; index < existingPodCount; index++) {
    cache.setPod(pod({ cpu }), `node-${index % nodeCount}`);
  }
  return cache;
}

const nothing = () => undefined;
const none = () => [];

/** Claim `default/c-N` is bound to volume `v-N`, which is in zone `N mod 3`. */
function claim(key) {
  const [, number] = /^default\/c-(\d+)$/.exec(key) ?? [];
  if (number === undefined) return undefined;
  return {
    metadata: {
      ...{ namespace: 'default', name: `c-${number}` },
      annotations: { 'pv.orch.io/bind-completed': 'yes' },
    },
    spec: { volumeName: `v-${number}`, resources: { requests: { storage: '1Gi' } } },
    status: { phase: 'Bound' },
  };
}

function volume(name) {
  const zone = zones[Number(name.slice('v-'.length)) % zones.length];
  const matchExpressions = [{ key: zoneKey, operator: 'In', values: [zone] }];
  return {
    metadata: { name },
    spec: {
      capacity: { storage: '1Gi' },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
    },
  };
}

export const objects = {
  ...{ namespaceLabels: nothing, services: none, budgets: none, storageCapacities: none },
  ...{ replicaSet: nothing, statefulSet: nothing, replicationController: nothing },
  ...{ claim, volume, volumesOfClass: none, storageClass: nothing },
  ...{ csiNode: nothing, csiDriver: nothing },
};

export const newAssumptions = () => ({ volumes: new Assumptions(), claims: new Assumptions() });
