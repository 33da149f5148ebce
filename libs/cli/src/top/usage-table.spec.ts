import type { Node } from '@orch/types/core/v1';
import type { NodeMetrics, PodMetrics } from '@orch/types/metrics/v1beta1';
import { describe, expect, it } from 'vitest';
import { nodeRows, podRows } from './usage-table.js';

const node = (name: string): Node => ({
  metadata: { name },
  status: { allocatable: { cpu: '2', memory: '4Gi' } },
});
const nodeMetrics = (name: string, cpu: string, memory: string) =>
  ({ metadata: { name }, window: '10s', usage: { cpu, memory } }) as NodeMetrics;

const pod = (name: string, containers: Record<string, [cpu: string, memory: string]>) =>
  ({
    metadata: { name, namespace: 'shop' },
    window: '10s',
    containers: Object.entries(containers).map(([container, [cpu, memory]]) => ({
      name: container,
      usage: { cpu, memory },
    })),
  }) as PodMetrics;

describe('the usage of nodes', () => {
  it('is shown with its share of what pods can use', () => {
    const metrics = [nodeMetrics('a', '249500000n', '1Gi'), nodeMetrics('b', '1', '3072Ki')];
    expect(nodeRows([node('a'), node('b')], metrics, undefined)).toEqual([
      ['NAME', 'CPU(cores)', 'CPU%', 'MEMORY(bytes)', 'MEMORY%'],
      ['a', '250m', '12%', '1024Mi', '25%'],
      ['b', '1000m', '50%', '3Mi', '0%'],
    ]);
  });

  it('is sorted by usage, and unknown for nodes without metrics', () => {
    const metrics = [nodeMetrics('a', '1m', '2Mi'), nodeMetrics('c', '2m', '1Mi')];
    const names = (key: 'cpu' | 'memory') =>
      nodeRows([node('a'), node('b'), node('c')], metrics, key).map(([name]) => name);
    expect(names('cpu')).toEqual(['NAME', 'c', 'a', 'b']);
    expect(names('memory')).toEqual(['NAME', 'a', 'c', 'b']);
    expect(nodeRows([node('b')], metrics, 'cpu')[1]?.slice(1)).toEqual(Array(4).fill('<unknown>'));
  });
});

describe('the usage of pods', () => {
  const pods = [
    pod('web', { main: ['100m', '10Mi'], log: ['5m', '30Mi'] }),
    pod('db', { main: ['300m', '20Mi'] }),
  ];
  const options = { withNamespace: false, perContainer: false, sortKey: undefined };

  it('is the sum of their containers', () => {
    expect(podRows(pods, options)).toEqual([
      ['NAME', 'CPU(cores)', 'MEMORY(bytes)'],
      ['web', '105m', '40Mi'],
      ['db', '300m', '20Mi'],
    ]);
  });

  it('is shown by container and namespace, and sorted', () => {
    const rows = podRows(pods, { withNamespace: true, perContainer: true, sortKey: 'memory' });
    expect(rows).toEqual([
      ['NAMESPACE', 'POD', 'NAME', 'CPU(cores)', 'MEMORY(bytes)'],
      ['shop', 'web', 'log', '5m', '30Mi'],
      ['shop', 'web', 'main', '100m', '10Mi'],
      ['shop', 'db', 'main', '300m', '20Mi'],
    ]);
    expect(podRows(pods, { ...options, sortKey: 'cpu' })[1]?.[0]).toBe('db');
  });
});
