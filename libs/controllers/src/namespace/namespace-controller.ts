/**
 * Completes the deletion of namespaces: deletes their content, waits until nothing remains and then
 * removes the platform's finalizer, after which the server removes the namespace.
 */
import { semanticallyEqual } from '@orch/apimachinery';
import { isConflict, isNotFound, type Lister, type ResourceClient, resources } from '@orch/client';
import { dialect } from '@orch/component';
import type { Namespace } from '@orch/types/core/v1';
import {
  type ControllerContext,
  type ControllerFactory,
  done,
  type ReconcileResult,
} from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { ignoring } from '../common/expected-errors.js';
import { replaceStatus } from '../common/replace-status.js';
import { never } from '../common/watches.js';
import { deleteContent } from './content-deleter.js';
import { type DeletionFindings, deletionConditions } from './namespace-content.js';

const conflictRetryMs = 100;

export const namespaceController: ControllerFactory = (context, options) => {
  const reconciler = new NamespaceReconciler(context, options.namespaceSyncPeriodMs);
  const isBeingDeleted = ({ metadata }: Namespace) => Boolean(metadata?.deletionTimestamp);
  return controller('namespace', context)
    .workers(options.namespaceSyncs)
    .for(resources.namespaces, { create: isBeingDeleted, update: isBeingDeleted, delete: never })
    .reconcile((name) => reconciler.reconcile(name));
};

class NamespaceReconciler {
  private readonly cached: Lister<Namespace>;
  private readonly namespaces: ResourceClient<Namespace>;

  constructor(
    private readonly context: ControllerContext,
    /** Longest time between two checks of a namespace that is being deleted. */
    private readonly syncPeriodMs: number,
  ) {
    this.cached = context.informers.informer(resources.namespaces).lister;
    this.namespaces = context.client.resource(resources.namespaces);
  }

  async reconcile(name: string): Promise<ReconcileResult> {
    const cached = this.cached.get(name);
    if (!cached?.metadata?.deletionTimestamp) return done;
    const finalizer = dialect().word;
    if (!cached.spec?.finalizers?.includes(finalizer)) return done;
    const latest = await ignoring(this.namespaces.get(name), isNotFound);
    if (!latest || latest.metadata?.uid !== cached.metadata.uid) return done;
    const outcome = await deleteContent(this.context.client, name);
    const namespace = await this.writeConditions(latest, outcome);
    const errors = [...outcome.discoveryErrors, ...outcome.deletionErrors];
    const { countByResource } = outcome.remaining;
    if (errors.length === 0 && countByResource.size === 0) {
      return this.finalize(namespace, finalizer);
    }
    this.context.logger.info(
      { namespace: name, remaining: Object.fromEntries(countByResource) },
      'namespace still has content',
    );
    if (errors.length > 0) throw new Error(errors.join('; '));
    return { requeueAfterMs: Math.min(this.syncPeriodMs, outcome.checkAfterSeconds * 1000) };
  }

  private writeConditions(namespace: Namespace, findings: DeletionFindings): Promise<Namespace> {
    const nowMs = this.context.clock.nowMs();
    return replaceStatus(this.namespaces, namespace, (current) => {
      const before = current.status?.conditions ?? [];
      const conditions = deletionConditions(before, findings, nowMs);
      if (semanticallyEqual(before, conditions)) return undefined;
      return { ...current, status: { ...current.status, conditions } };
    });
  }

  private async finalize(namespace: Namespace, finalizer: string): Promise<ReconcileResult> {
    const finalizers = (namespace.spec?.finalizers ?? []).filter((name) => name !== finalizer);
    const replacement = this.namespaces
      .subresource<Namespace>(namespace.metadata?.name ?? '', 'finalize')
      .replace({ ...namespace, spec: { ...namespace.spec, finalizers } });
    try {
      await ignoring(replacement, isNotFound);
    } catch (error) {
      if (isConflict(error)) return { requeueAfterMs: conflictRetryMs };
      throw error;
    }
    return done;
  }
}
