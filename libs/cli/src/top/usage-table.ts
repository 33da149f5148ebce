/** The rows of `orchctl top`: usage of nodes, pods and containers. Pure. */
import { Quantity } from '@orch/apimachinery';
import type { Node } from '@orch/types/core/v1';
import type { NodeMetrics, PodMetrics } from '@orch/types/metrics/v1beta1';

export const sortKeys = ['cpu', 'memory'] as const;
export type SortKey = (typeof sortKeys)[number];

interface Usage {
  readonly cpuMilli: number;
  readonly memoryBytes: number;
}

interface Row extends Usage {
  readonly cells: readonly string[];
}

const unknown = '<unknown>';
const mebibyte = 1024 * 1024;
const usageHeader = ['CPU(cores)', 'MEMORY(bytes)'];

/** Nodes without metrics are last, with unknown usage. */
export function nodeRows(
  nodes: readonly Node[],
  metrics: readonly NodeMetrics[],
  sortKey: SortKey | undefined,
): string[][] {
  const byName = new Map(metrics.map((entry) => [entry.metadata?.name ?? '', entry]));
  const measured: Row[] = [];
  const others: string[][] = [];
  for (const { metadata, status } of nodes) {
    const name = metadata?.name ?? '';
    const found = byName.get(name);
    if (!found) {
      others.push([name, unknown, unknown, unknown, unknown]);
      continue;
    }
    const usage = usageOf(found.usage);
    const available = usageOf(status?.allocatable);
    const [cpu = '', memory = ''] = usageCells(usage);
    const cpuShare = share(usage.cpuMilli, available.cpuMilli);
    const memoryShare = share(usage.memoryBytes, available.memoryBytes);
    measured.push({ ...usage, cells: [name, cpu, cpuShare, memory, memoryShare] });
  }
  return [
    ['NAME', 'CPU(cores)', 'CPU%', 'MEMORY(bytes)', 'MEMORY%'],
    ...sorted(measured, sortKey),
    ...others,
  ];
}

export interface PodRowOptions {
  readonly withNamespace: boolean;
  readonly perContainer: boolean;
  readonly sortKey: SortKey | undefined;
}

/** With `perContainer` pods keep their order, and the containers of each are sorted. */
export function podRows(
  metrics: readonly PodMetrics[],
  { withNamespace, perContainer, sortKey }: PodRowOptions,
): string[][] {
  const place = ({ metadata }: PodMetrics) => (withNamespace ? [metadata?.namespace ?? ''] : []);
  const pods = metrics.map((pod): Row & { pod: PodMetrics } => {
    const usage = sumOf((pod.containers ?? []).map((container) => usageOf(container.usage)));
    const cells = [...place(pod), pod.metadata?.name ?? '', ...usageCells(usage)];
    return { ...usage, pod, cells };
  });
  const namespaceHeader = withNamespace ? ['NAMESPACE'] : [];
  if (!perContainer)
    return [[...namespaceHeader, 'NAME', ...usageHeader], ...sorted(pods, sortKey)];
  const rows = ordered(pods, sortKey).flatMap(({ pod }) => {
    const containers = (pod.containers ?? []).map(({ name, usage }): Row => {
      const own = usageOf(usage);
      const cells = [...place(pod), pod.metadata?.name ?? '', name, ...usageCells(own)];
      return { ...own, cells };
    });
    return sorted(containers, sortKey);
  });
  return [[...namespaceHeader, 'POD', 'NAME', ...usageHeader], ...rows];
}

function usageOf(resources: Readonly<Record<string, string>> | undefined): Usage {
  return {
    cpuMilli: Number(Quantity.parse(resources?.cpu ?? '0').milliUnits()),
    memoryBytes: Number(Quantity.parse(resources?.memory ?? '0').units()),
  };
}

function sumOf(usages: readonly Usage[]): Usage {
  return usages.reduce(
    (sum, { cpuMilli, memoryBytes }) => ({
      cpuMilli: sum.cpuMilli + cpuMilli,
      memoryBytes: sum.memoryBytes + memoryBytes,
    }),
    { cpuMilli: 0, memoryBytes: 0 },
  );
}

function usageCells({ cpuMilli, memoryBytes }: Usage): string[] {
  return [`${cpuMilli}m`, `${Math.floor(memoryBytes / mebibyte)}Mi`];
}

function share(used: number, available: number): string {
  return available === 0 ? unknown : `${Math.floor((used / available) * 100)}%`;
}

function sorted(rows: readonly Row[], key: SortKey | undefined): string[][] {
  return ordered(rows, key).map(({ cells }) => [...cells]);
}

/** The highest usage first; without a key in the order of the server. */
function ordered<T extends Usage>(rows: readonly T[], key: SortKey | undefined): readonly T[] {
  if (key === undefined) return rows;
  const value = (row: T) => (key === 'cpu' ? row.cpuMilli : row.memoryBytes);
  return [...rows].sort((a, b) => value(b) - value(a));
}
