/**
 * The API of resource metrics: its kinds, which a server serves only if a flag enables them, and
 * the role that grants reading them to everyone who may view the workloads of a namespace.
 */
import { dialect } from '@orch/component';
import type { ClusterRole } from '@orch/types/rbac.authorization/v1';
import type { ResourceDefinition } from '../definition.js';
import { nodeMetricsKind } from './node-metrics.js';
import { podMetricsKind } from './pod-metrics.js';

/** The head of the group, whose API service a user may point at another server. */
export const metricsGroup = 'metrics';

export const metricsDefinitions: readonly ResourceDefinition[] = [nodeMetricsKind, podMetricsKind];

/** The role has the name and the rules of the manifest of the upstream metrics server. */
export function metricsReaderRole(): ClusterRole {
  const rbacGroup = dialect().group('rbac.authorization');
  const aggregate = (role: string) => `${rbacGroup}/aggregate-to-${role}`;
  return {
    apiVersion: dialect().apiVersion('rbac.authorization', 'v1'),
    kind: 'ClusterRole',
    metadata: {
      name: 'system:aggregated-metrics-reader',
      labels: {
        [aggregate('admin')]: 'true',
        [aggregate('edit')]: 'true',
        [aggregate('view')]: 'true',
      },
    },
    rules: [
      {
        apiGroups: [dialect().group(metricsGroup)],
        resources: ['pods', 'nodes'],
        verbs: ['get', 'list', 'watch'],
      },
    ],
  };
}
