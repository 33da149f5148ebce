/**
 * Whether the selectors of a hook select a request: by the labels of its namespace, and by those of
 * the new or the old object.
 */
import { notFound } from '@orch/apimachinery';
import type { Clock } from '@orch/component';
import { type AdmissionRequest, objectOf, type ResourceTable } from '@orch/registry';
import type { StoreReader } from '@orch/store';
import { requestNamespace } from './admission-review.js';
import type { Hook } from './hook.js';
import { isNamespaces } from './hook-set.js';
import type { ReviewedRequest } from './reviewed-request.js';

type Labels = Readonly<Record<string, string>>;

export interface HookSelectorsDependencies {
  readonly store: StoreReader;
  readonly table: ResourceTable;
  readonly clock: Clock;
}

export class HookSelectors {
  constructor(private readonly dependencies: HookSelectorsDependencies) {}

  /** Throws 404 if the namespace does not exist. */
  async select(
    { namespaceSelector, objectSelector }: Hook,
    reviewed: ReviewedRequest,
  ): Promise<boolean> {
    if (!objectSelector.everything) {
      if (!reviewed.labels.some((labels) => objectSelector.matches(labels))) return false;
    }
    if (namespaceSelector.everything) return true;
    const { request } = reviewed;
    const namespace = requestNamespace(request);
    // Other cluster-scoped objects are selected by every hook.
    if (namespace === '' && !isNamespaces(request.served)) return true;
    return namespaceSelector.matches(await this.namespaceLabels(request, namespace));
  }

  private async namespaceLabels(
    request: AdmissionRequest,
    name: string,
  ): Promise<Labels | undefined> {
    const { served, subresource, operation, object } = request;
    const isWritten = operation === 'CREATE' || operation === 'UPDATE';
    if (isNamespaces(served) && subresource === '' && isWritten) return object?.metadata?.labels;
    const { store, table, clock } = this.dependencies;
    const key = table.stored('core', 'namespaces')?.key('', name) ?? '';
    const timeoutMs = Math.max(1, request.context.deadlineMs - clock.monotonicMs());
    // Memory is read first; that the namespace is missing is confirmed by a quorum read.
    for (const kind of ['any', 'quorum'] as const) {
      const { entry } = await store.get(key, { consistency: { kind }, timeoutMs });
      if (entry) return objectOf(entry).metadata?.labels;
    }
    throw notFound({ group: '', resource: 'namespaces' }, name);
  }
}
