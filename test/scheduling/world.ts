/**
 * Random small clusters with up to three pods to schedule. The objects are those of the API, so
 * that the naive scheduler shares no model with the real one. Values collide often, because equal
 * labels, taints and ports are what decisions depend on.
 */
import { dialect } from '@orch/component';
import type {
  Affinity,
  Container,
  Namespace,
  Node,
  NodeSelectorTerm,
  Pod,
  PodAffinityTerm,
  Service,
  Taint,
  Toleration,
  TopologySpreadConstraint,
} from '@orch/types/core/v1';
import type { LabelSelector } from '@orch/types/meta/v1';
import type { Random } from '../simulation/random.js';
import { randomVolumes, volumeLimits, type WorldVolumes, withVolumes } from './world-volumes.js';

export interface World extends WorldVolumes {
  readonly namespaces: readonly Namespace[];
  readonly services: readonly Service[];
  readonly nodes: readonly Node[];
  /** Pods with `spec.nodeName`. */
  readonly placed: readonly Pod[];
  /** Pods without a node that are nominated for one. */
  readonly nominated: readonly { readonly pod: Pod; readonly node: string }[];
  readonly incoming: Pod;
  /** Further pods, which are scheduled afterwards. */
  readonly later: readonly Pod[];
}

const limits = { nodes: 7, placed: 14, nominated: 2, later: 2 };
const apps = ['web', 'db'];
const tiers = ['a', 'b'];
const images = ['app:1', 'tool:1', 'tool:latest'];
const zoneKey = () => dialect().key('zone', 'topology');
const topologyKeys = () => [zoneKey(), 'rack', dialect().key('hostname')];

export function randomWorld(random: Random): World {
  const count = (most: number) => random.integer(most + 1);
  const nodes = Array.from({ length: 1 + count(limits.nodes - 1) }, (_, at) => node(random, at));
  const nodeName = ({ metadata }: Node) => metadata?.name ?? '';
  const nameOf = () => nodeName(random.pick(nodes));
  const volumes = randomVolumes(random.fork('volumes'), nodes.map(nodeName));
  return {
    ...volumes,
    namespaces: ['n1', 'n2'].map((name) => ({
      metadata: { name, ...(random.chance(0.5) && { labels: { team: name } }) },
    })),
    services: Array.from({ length: count(2) }, (_, at) => ({
      metadata: { name: `s${at}`, namespace: random.pick(['n1', 'n2']) },
      spec: { ...(random.chance(0.8) && { selector: { app: random.pick(apps) } }) },
    })),
    nodes,
    placed: Array.from({ length: count(limits.placed) }, (_, at) =>
      pod(random, `placed-${at}`, nameOf()),
    ),
    nominated: Array.from(
      { length: random.chance(0.3) ? count(limits.nominated) : 0 },
      (_, at) => ({
        pod: pod(random, `nominated-${at}`),
        node: nameOf(),
      }),
    ),
    incoming: pod(random, 'incoming'),
    later: Array.from({ length: count(limits.later) }, (_, at) => pod(random, `later-${at}`)),
  };
}

function node(random: Random, at: number): Node {
  const name = `node-${at}`;
  const labels: Record<string, string> = { [dialect().key('hostname')]: name };
  if (random.chance(0.85)) labels[zoneKey()] = random.pick(['z1', 'z2', 'z3']);
  if (random.chance(0.5)) labels.rack = random.pick(['r1', 'r2']);
  if (random.chance(0.5)) labels.disk = random.pick(['ssd', 'hdd']);
  if (random.chance(0.3)) labels.size = String(random.integer(4));
  const allocatable: Record<string, string> = {
    cpu: `${random.integer(5) * 500}m`,
    memory: `${random.integer(5) * 512}Mi`,
    pods: String(random.chance(0.15) ? 1 + random.integer(3) : 20),
  };
  if (random.chance(0.3)) allocatable['example.com/gpu'] = String(random.integer(3));
  if (random.chance(0.3)) allocatable['ephemeral-storage'] = `${random.integer(3)}Gi`;
  Object.assign(allocatable, volumeLimits(random));
  const avoided = { podSignature: { podController: { kind: 'ReplicaSet', uid: 'owner' } } };
  const annotation = dialect().key('preferAvoidPods', 'scheduler.alpha');
  return {
    metadata: {
      name,
      labels,
      ...(random.chance(0.1) && {
        annotations: { [annotation]: JSON.stringify({ preferAvoidPods: [avoided] }) },
      }),
    },
    spec: {
      unschedulable: random.chance(0.1),
      taints: some(random, 0.3, 2, () => taint(random)),
    },
    status: {
      allocatable,
      images: some(random, 0.6, 2, () => ({
        names: [random.pick(images)],
        sizeBytes: random.integer(2_000) * 1_048_576,
      })),
    },
  };
}

function taint(random: Random): Taint {
  return {
    key: random.pick(['t1', 't2']),
    value: random.pick(['', 'v1', 'v2']),
    effect: random.pick(['NoSchedule', 'NoExecute', 'PreferNoSchedule', 'PreferNoSchedule']),
  };
}

function toleration(random: Random): Toleration {
  const exists = random.chance(0.4);
  return {
    ...(exists && random.chance(0.3) ? {} : { key: random.pick(['t1', 't2']) }),
    ...(exists ? { operator: 'Exists' } : { value: random.pick(['', 'v1', 'v2']) }),
    ...(random.chance(0.5) && {
      effect: random.pick(['NoSchedule', 'NoExecute', 'PreferNoSchedule']),
    }),
  };
}

function pod(random: Random, name: string, nodeName?: string): Pod {
  const labels: Record<string, string> = {};
  if (random.chance(0.8)) labels.app = random.pick(apps);
  if (random.chance(0.5)) labels.tier = random.pick(tiers);
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'set', uid: 'owner' };
  return withVolumes(random, {
    metadata: {
      name,
      uid: `uid-${name}`,
      namespace: random.pick(['n1', 'n1', 'n2']),
      labels,
      ...(random.chance(0.2) && { ownerReferences: [{ ...owner, controller: true }] }),
      ...(nodeName && random.chance(0.1) && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    spec: {
      ...(nodeName && { nodeName }),
      priority: random.integer(3),
      containers: Array.from({ length: 1 + random.integer(2) }, (_, at) => container(random, at)),
      initContainers: some(random, 0.2, 1, () => container(random, 9)),
      ...(random.chance(0.1) && { overhead: { cpu: '100m' } }),
      tolerations: some(random, 0.4, 3, () => toleration(random)),
      ...(random.chance(0.2) && { nodeSelector: { disk: random.pick(['ssd', 'hdd']) } }),
      affinity: affinity(random),
      topologySpreadConstraints: some(random, 0.35, 2, () => spreadConstraint(random)),
    },
  });
}

function container(random: Random, at: number): Container {
  const requests: Record<string, string> = {};
  if (random.chance(0.6)) requests.cpu = `${random.integer(4) * 250}m`;
  if (random.chance(0.6)) requests.memory = `${random.integer(4) * 256}Mi`;
  if (random.chance(0.1)) requests['example.com/gpu'] = '1';
  if (random.chance(0.1)) requests['ephemeral-storage'] = '1Gi';
  return {
    name: `c${at}`,
    image: random.pick(['app:1', 'tool:1', 'tool', 'other:2']),
    resources: { requests },
    ports: some(random, 0.2, 1, () => ({
      containerPort: 80,
      hostPort: random.pick([80, 81]),
      ...(random.chance(0.4) && { hostIP: random.pick(['127.0.0.1', '10.0.0.1']) }),
      ...(random.chance(0.3) && { protocol: 'UDP' }),
    })),
  };
}

function affinity(random: Random): Affinity {
  const term = () => podTerm(random);
  const weighted = () => ({ weight: 1 + random.integer(3), podAffinityTerm: podTerm(random) });
  return {
    nodeAffinity: {
      ...(random.chance(0.15) && {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [nodeTerm(random), ...some(random, 0.4, 1, () => nodeTerm(random))],
        },
      }),
      preferredDuringSchedulingIgnoredDuringExecution: some(random, 0.3, 2, () => ({
        weight: random.integer(4),
        preference: nodeTerm(random),
      })),
    },
    podAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: some(random, 0.15, 2, term),
      preferredDuringSchedulingIgnoredDuringExecution: some(random, 0.25, 2, weighted),
    },
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: some(random, 0.15, 2, term),
      preferredDuringSchedulingIgnoredDuringExecution: some(random, 0.25, 2, weighted),
    },
  };
}

function nodeTerm(random: Random): NodeSelectorTerm {
  const requirements = [
    () => ({ key: zoneKey(), operator: 'In', values: [random.pick(['z1', 'z2']), 'z3'] }),
    () => ({ key: 'disk', operator: 'NotIn', values: ['hdd'] }),
    () => ({ key: 'rack', operator: random.pick(['Exists', 'DoesNotExist']) }),
    () => ({ key: 'size', operator: random.pick(['Gt', 'Lt']), values: ['1'] }),
  ];
  return { matchExpressions: some(random, 0.95, 2, () => random.pick(requirements)()) };
}

function podTerm(random: Random): PodAffinityTerm {
  return {
    topologyKey: random.pick(topologyKeys()),
    labelSelector: labelSelector(random),
    ...(random.chance(0.2) && { namespaces: [random.pick(['n1', 'n2'])] }),
    ...(random.chance(0.2) && {
      namespaceSelector: random.chance(0.5) ? {} : { matchLabels: { team: 'n2' } },
    }),
  };
}

function labelSelector(random: Random): LabelSelector {
  const requirements = [
    () => ({ key: 'app', operator: 'In', values: [random.pick(apps), random.pick(apps)] }),
    () => ({ key: 'tier', operator: 'NotIn', values: ['a'] }),
    () => ({ key: 'tier', operator: random.pick(['Exists', 'DoesNotExist']) }),
  ];
  return {
    ...(random.chance(0.7) && { matchLabels: { app: random.pick(apps) } }),
    matchExpressions: some(random, 0.3, 1, () => random.pick(requirements)()),
  };
}

function spreadConstraint(random: Random): TopologySpreadConstraint {
  return {
    maxSkew: 1 + random.integer(2),
    topologyKey: random.pick(topologyKeys()),
    whenUnsatisfiable: random.pick(['DoNotSchedule', 'ScheduleAnyway']),
    labelSelector: labelSelector(random),
  };
}

/** With this chance 1 to `most` items, otherwise none. */
function some<Item>(random: Random, chance: number, most: number, item: () => Item): Item[] {
  if (!random.chance(chance)) return [];
  return Array.from({ length: 1 + random.integer(most) }, item);
}
