/** NodeMetrics: the resource usage of a node. Not stored: the server measures it on read. */
import type { NodeMetrics } from '@orch/types/metrics/v1beta1';
import { define } from '../definition.js';
import { usageColumns } from './usage-columns.js';

export const nodeMetricsKind = define<NodeMetrics>({
  plural: 'nodes',
  singular: '',
  kind: 'NodeMetrics',
  namespaced: false,
  verbs: ['get', 'list'],
  virtual: true,
  versions: [{ group: 'metrics', version: 'v1beta1' }],
  stored: { group: 'metrics', version: 'v1beta1' },
  columns: usageColumns(({ usage = {} }) => [usage]),
});
