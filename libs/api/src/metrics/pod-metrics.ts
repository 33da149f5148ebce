/** PodMetrics: the resource usage of a pod. Not stored: the server measures it on read. */
import type { PodMetrics } from '@orch/types/metrics/v1beta1';
import { define } from '../definition.js';
import { usageColumns } from './usage-columns.js';

export const podMetricsKind = define<PodMetrics>({
  plural: 'pods',
  singular: '',
  kind: 'PodMetrics',
  namespaced: true,
  verbs: ['get', 'list'],
  virtual: true,
  versions: [{ group: 'metrics', version: 'v1beta1' }],
  stored: { group: 'metrics', version: 'v1beta1' },
  columns: usageColumns(({ containers = [] }) => containers.map(({ usage = {} }) => usage)),
});
