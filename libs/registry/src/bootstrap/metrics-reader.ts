/** The role for reading resource metrics, if this server serves them. */
import { metricsGroup, metricsReaderRole } from '@orch/api';
import { dialect } from '@orch/component';
import { SystemObjectsWriter } from '../reconciling/system-objects-writer.js';
import type { Registry } from '../store/registry.js';

/**
 * Creates the role if it is missing; an existing one belongs to operators. Rejects with StoreError
 * or StatusError while the store takes no writes: retry later.
 */
export async function ensureMetricsReader(registry: Registry): Promise<void> {
  if (!registry.table.hasBuiltInGroup(dialect().group(metricsGroup))) return;
  const kind = { plural: 'clusterroles', groupHead: 'rbac.authorization' };
  await new SystemObjectsWriter(registry).ensure(kind, metricsReaderRole());
}
