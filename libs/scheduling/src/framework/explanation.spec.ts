import { describe, expect, it } from 'vitest';
import { clusterOf, cycleOf, info, node, type PodFields, profileOf } from '../testing/builders.js';
import { evaluateNodes } from './explanation.js';
import { groupRemedies, remedyTexts } from './remedy.js';

const taint = { key: 'dedicated', value: 'db', effect: 'NoSchedule' };

function evaluate(fields: PodFields, ...nodes: ReturnType<typeof node>[]) {
  return evaluateNodes(cycleOf(info(fields), clusterOf(...nodes)), profileOf());
}

function summary(fields: PodFields, ...nodes: ReturnType<typeof node>[]): string[] {
  return groupRemedies(evaluate(fields, ...nodes).refused).map(({ text }) => text);
}

describe('evaluateNodes', () => {
  it('summarizes what would have to change, the fewest changes first', () => {
    const sized = (name: string, cpu: string) => node(name, { allocatable: { cpu } });
    const tainted = { taints: [taint] };
    expect(
      summary(
        { requests: { cpu: '1', memory: '1Gi' } },
        sized('a', '800m'),
        sized('b', '900m'),
        sized('c', '800m'),
        node('d', tainted),
        node('e', tainted),
        node('f', { ...tainted, unschedulable: true, allocatable: { memory: '500Mi' } }),
      ),
    ).toEqual([
      '3 nodes need 100m to 200m more cpu',
      '2 nodes have taint dedicated=db:NoSchedule which the pod does not tolerate',
      '1 node is unschedulable (cordoned) and has taint dedicated=db:NoSchedule which the pod does not tolerate and needs 524Mi more memory',
    ]);
  });

  it('reports every plugin that refuses a node, not only the first one', () => {
    const { refused, feasible } = evaluate(
      { requests: { cpu: '9' }, spec: { nodeSelector: { disk: 'ssd' } } },
      node('a', { taints: [taint] }),
      node('b', { labels: { disk: 'ssd' }, allocatable: { cpu: '10' } }),
    );
    expect(feasible).toEqual(['b']);
    expect(refused).toMatchObject([{ node: 'a' }]);
    expect(refused[0]!.rejections.map(({ plugin }) => plugin).sort()).toEqual([
      'NodeAffinity',
      'NodeResourcesFit',
      'TaintToleration',
    ]);
    expect(remedyTexts(refused[0]!.remedies).sort()).toEqual([
      'does not have label disk=ssd of the node selector',
      'has taint dedicated=db:NoSchedule which the pod does not tolerate',
      'needs 5 more cpu',
    ]);
  });

  it('reports the scores of all feasible nodes by plugin', () => {
    const { feasible, scores } = evaluate(
      { requests: { cpu: '1', memory: '1Gi' } },
      node('small', { allocatable: { cpu: '2', memory: '2Gi' } }),
      node('large', { allocatable: { cpu: '10', memory: '10Gi' } }),
    );
    const least = scores.byPlugin.find(({ plugin }) => plugin === 'NodeResourcesLeastAllocated')!;
    const byNode = Object.fromEntries(feasible.map((name, at) => [name, least.scores[at]]));
    expect(byNode).toEqual({ small: 50, large: 90 });
    const sums = feasible.map((_, at) =>
      scores.byPlugin.reduce((sum, { weight, scores: row }) => sum + weight * row[at]!, 0),
    );
    expect([...scores.totals]).toEqual(sums);
  });

  it('counts the pods that are nominated for a node', () => {
    const urgent = info({ name: 'urgent', requests: { cpu: '4' }, spec: { priority: 10 } });
    const cycle = cycleOf(info({ requests: { cpu: '1' } }), clusterOf(node('a')), {
      nominatedPods: () => [urgent],
    });
    const [refused] = evaluateNodes(cycle, profileOf()).refused;
    expect(remedyTexts(refused!.remedies)).toEqual(['needs 1 more cpu']);
  });

  it.each([
    [
      'host ports',
      {
        spec: {
          containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80, hostPort: 80 }] }],
        },
      },
      'does not have host port TCP/80 free',
    ],
    [
      'pod anti-affinity',
      { spec: { affinity: { podAntiAffinity: { ...required({ app: 'web' }) } } } },
      'has a pod that the pod anti-affinity selects in its zone',
    ],
    [
      'pod affinity',
      { spec: { affinity: { podAffinity: { ...required({ app: 'db' }) } } } },
      'does not have a pod that the pod affinity selects in its zone',
    ],
    [
      'a missing claim',
      { spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] } },
      'is refused by VolumeBinding: persistentvolumeclaim "data" not found',
    ],
  ])('describes %s', (_, fields, expected) => {
    const cluster = clusterOf(node('a', { labels: { zone: 'z' } }));
    const ports = [{ hostPort: 80, containerPort: 80 }];
    const containers = [{ name: 'c', image: 'i', ports }];
    cluster.setPod(info({ name: 'web', labels: { app: 'web' }, spec: { containers } }), 'a');
    const [refused] = evaluateNodes(cycleOf(info(fields), cluster), profileOf()).refused;
    expect(remedyTexts(refused!.remedies)).toContain(expected);
  });
});

function required(matchLabels: Record<string, string>) {
  return {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: 'zone', labelSelector: { matchLabels } },
    ],
  };
}
