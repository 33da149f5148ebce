/**
 * The feasible nodes and their scores in the recorded scheduling scenarios, computed without a
 * server. The replay of the scenarios compares the chosen node only, which may be right by chance.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  Assumptions,
  buildProfile,
  ClusterCache,
  Cycle,
  type CycleContext,
  defaultPluginSets,
  findFeasible,
  podInfo,
  scoreNodes,
} from '@orch/scheduling';
import type { Container, Node, Pod, Service } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';

interface Named {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

interface Step {
  readonly pod?: Pod;
  readonly expect?: { readonly node?: string; readonly oneOf?: readonly string[] };
  readonly scores?: Readonly<Record<string, number>>;
}

interface Scenario {
  readonly name: string;
  readonly objects: readonly Named[];
  readonly pods: readonly Step[];
}

const folder = resolve(import.meta.dirname, '../conformance/scheduling');
const read = (file: string) =>
  readFileSync(join(folder, file), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Scenario);

const profile = buildProfile(
  {
    schedulerName: 'default-scheduler',
    sets: defaultPluginSets('DefaultProvider', true),
    args: new Map(),
    source: 'test',
  },
  { hasDefaultSpread: true, ignoredResources: [] },
);

/** Scenarios of these areas need more objects than nodes, pods and services. */
const skippedAreas = /^(?:volumes|preemption|queue)\//;

let uidCount = 0;

/** Applies the defaults of the server that decisions depend on. */
function admitted(pod: Pod, priorities: ReadonlyMap<string, number>): Pod {
  const withRequests = (container: Container): Container => ({
    ...container,
    resources: {
      requests: { ...container.resources?.limits, ...container.resources?.requests },
    },
    ports: container.ports?.map((port) => ({
      ...port,
      ...(pod.spec?.hostNetwork && { hostPort: port.containerPort }),
    })),
  });
  uidCount++;
  return {
    ...pod,
    metadata: { namespace: 'default', uid: `uid-${uidCount}`, ...pod.metadata },
    spec: {
      ...pod.spec!,
      priority: priorities.get(pod.spec?.priorityClassName ?? '') ?? 0,
      containers: pod.spec!.containers!.map(withRequests),
      initContainers: pod.spec!.initContainers?.map(withRequests),
    },
  };
}

function worldOf({ objects }: Scenario) {
  const ofKind = <T>(kind: string) =>
    objects.filter((object) => object.kind === kind) as unknown as T[];
  const priorities = new Map(
    ofKind<Named & { value: number }>('PriorityClass').map((one) => [one.metadata.name, one.value]),
  );
  const cache = new ClusterCache({ monotonicMs: () => 0 });
  for (const node of ofKind<Node>('Node')) cache.setNode(node);
  for (const pod of ofKind<Pod>('Pod')) {
    if (['Succeeded', 'Failed'].includes(pod.status?.phase ?? '')) continue;
    cache.setPod(podInfo(admitted(pod, priorities)), pod.spec?.nodeName ?? '');
  }
  const services = ofKind<Service>('Service');
  const context = (): CycleContext => ({
    cluster: cache.snapshot(),
    objects: {
      namespaceLabels: () => ({}),
      services: (namespace) =>
        services.filter((one) => (one.metadata?.namespace ?? 'default') === namespace),
      replicaSet: () => undefined,
      statefulSet: () => undefined,
      replicationController: () => undefined,
      budgets: () => [],
      claim: () => undefined,
      volume: () => undefined,
      volumesOfClass: () => [],
      storageClass: () => undefined,
      csiNode: () => undefined,
      csiDriver: () => undefined,
      storageCapacities: () => [],
    },
    assumptions: { volumes: new Assumptions(), claims: new Assumptions() },
    nominated: { size: 0, on: () => [] },
    random: () => 0,
  });
  return { cache, context, priorities };
}

/** Scores relative to the best one: plugins with equal scores for all nodes do not count. */
function relative(scores: Readonly<Record<string, number>>): Record<string, number> {
  const best = Math.max(...Object.values(scores));
  const names = Object.keys(scores).sort();
  return Object.fromEntries(names.map((name) => [name, best - scores[name]!]));
}

function computedScores(cycle: Cycle): Record<string, number> {
  const search = { start: 0, percentageOfNodesToScore: 0, prefersNominatedNode: false };
  const { feasible } = findFeasible(cycle, profile, search);
  const { totals } = scoreNodes(cycle, profile, feasible);
  return relative(Object.fromEntries(feasible.map(({ name }, index) => [name, totals[index]!])));
}

/** Compares the placed pods up to the first step that changes the world otherwise. */
function check(scenario: Scenario): number {
  const { cache, context, priorities } = worldOf(scenario);
  let comparedCount = 0;
  for (const step of scenario.pods) {
    const node = step.expect?.node ?? step.expect?.oneOf?.[0];
    if (!step.pod) break;
    if (node === undefined) continue;
    const info = podInfo(admitted(step.pod, priorities));
    const expected = step.scores ? relative(step.scores) : { [node]: 0 };
    const title = `${scenario.name} ${info.name}`;
    expect({ [title]: computedScores(new Cycle(info, context())) }).toEqual({ [title]: expected });
    cache.setPod(info, node);
    comparedCount++;
  }
  return comparedCount;
}

describe('recorded scheduling decisions', () => {
  const scenarios = [...read('designed.jsonl'), ...read('random.jsonl')].filter(
    ({ name, pods }) => !skippedAreas.test(name) && !pods.some((step) => 'nominated' in step),
  );

  it.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
    '%s: has the same feasible nodes and scores',
    (_, scenario) => {
      check(scenario);
    },
  );

  it('are compared in large numbers', () => {
    const counts = scenarios.map(check);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(400);
  });
});
