/**
 * Ends namespaces: when one is being deleted, deletes all that is in it, waits until nothing is left and
 * then takes the platform's own finalizer off, which lets the server remove it.
 */
import { semanticallyEqual } from '@orch/apimachinery';
import { type Informer, isConflict, isNotFound, resources, type WorkQueue } from '@orch/client';
import { dialect } from '@orch/component';
import type { Namespace } from '@orch/types/core/v1';
import { replaceStatus } from '../common/replace-status.js';
import {
  type Controller,
  type ControllerContext,
  queueFor,
  workOff,
} from '../manager/controller.js';
import { deleteContent } from './content-deleter.js';
import { type DeletionFindings, deletionConditions } from './namespace-content.js';

export class NamespaceController implements Controller {
  private readonly namespaces: Informer<Namespace>;
  private readonly queue: WorkQueue;

  constructor(
    private readonly context: ControllerContext,
    private readonly workerCount: number,
    /** Deleted namespaces are looked at again this often, whatever happens. */
    private readonly syncPeriodMs: number,
  ) {
    this.namespaces = context.informers.informer(resources.namespaces);
    this.queue = queueFor(context, 'namespace');
    this.namespaces.addHandlers({
      onAdd: (namespace) => this.changed(namespace),
      onUpdate: (namespace) => this.changed(namespace),
    });
  }

  run(signal: AbortSignal): Promise<void> {
    return workOff(this.queue, this.workerCount, signal, (key) => this.reconcile(key));
  }

  private changed(namespace: Namespace): void {
    if (!namespace.metadata?.deletionTimestamp) return;
    this.queue.add(namespace.metadata.name ?? '');
  }

  private async reconcile(name: string): Promise<number | undefined> {
    const cached = this.namespaces.lister.get(name);
    if (!cached?.metadata?.deletionTimestamp) return undefined;
    const finalizer = dialect().word;
    if (!(cached.spec?.finalizers ?? []).includes(finalizer)) return undefined;
    const namespaces = this.context.client.resource(resources.namespaces);
    let namespace: Namespace;
    try {
      namespace = await namespaces.get(name);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
    if (namespace.metadata?.uid !== cached.metadata.uid) return undefined;
    const outcome = await deleteContent(this.context.client, name);
    namespace = await this.writeConditions(namespace, outcome);
    const isClean =
      outcome.deletionErrors.length === 0 &&
      outcome.discoveryErrors.length === 0 &&
      outcome.remaining.countByResource.size === 0;
    if (isClean) return this.finalize(namespace, finalizer);
    this.context.logger.info(
      { namespace: name, remaining: Object.fromEntries(outcome.remaining.countByResource) },
      'namespace still has content',
    );
    if (outcome.deletionErrors.length > 0 || outcome.discoveryErrors.length > 0) {
      throw new Error([...outcome.discoveryErrors, ...outcome.deletionErrors].join('; '));
    }
    return Math.min(this.syncPeriodMs, outcome.againAfterSeconds * 1000);
  }

  private writeConditions(namespace: Namespace, findings: DeletionFindings): Promise<Namespace> {
    const nowMs = this.context.clock.nowMs();
    const namespaces = this.context.client.resource(resources.namespaces);
    return replaceStatus(namespaces, namespace, (current) => {
      const before = current.status?.conditions ?? [];
      const conditions = deletionConditions(before, findings, nowMs);
      if (semanticallyEqual(before, conditions)) return undefined;
      return { ...current, status: { ...current.status, conditions } };
    });
  }

  private async finalize(namespace: Namespace, finalizer: string): Promise<number | undefined> {
    const name = namespace.metadata?.name ?? '';
    const finalizers = (namespace.spec?.finalizers ?? []).filter((one) => one !== finalizer);
    try {
      await this.context.client
        .resource(resources.namespaces)
        .subresource<Namespace>(name, 'finalize')
        .replace({ ...namespace, spec: { ...namespace.spec, finalizers } });
    } catch (error) {
      if (isConflict(error)) return 100;
      if (!isNotFound(error)) throw error;
    }
    return undefined;
  }
}
