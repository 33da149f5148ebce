/**
 * Writes the Endpoints of every service that selects pods. Endpoints of services without a selector
 * belong to their authors and are not touched.
 */
import {
  type EventRecorder,
  type Informer,
  isAlreadyExists,
  isConflict,
  isNamespaceTerminating,
  isNotFound,
  objectKey,
  resources,
} from '@orch/client';
import type { Endpoints, Pod, Service } from '@orch/types/core/v1';
import {
  type ControllerContext,
  type ControllerFactory,
  done,
  type ReconcileResult,
} from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { ignoring, messageOf } from '../common/expected-errors.js';
import { mapSelectorOf } from '../common/selectors.js';
import { never } from '../common/watches.js';
import { isElectionLock } from './election-lock.js';
import { planEndpoints } from './endpoints-plan.js';
import { affectsEndpoints, podsOf, servicesSelecting } from './service-pods.js';
import { TriggerTimes } from './trigger-times.js';

export const endpointsController: ControllerFactory = (context, options) => {
  const reconciler = new EndpointsReconciler(context);
  const endpoints = context.informers.informer(resources.endpoints).lister;
  const services = context.informers.informer(resources.services).lister;
  return (
    controller('endpoint', context)
      .workers(options.endpointSyncs)
      .for(resources.services)
      .watches(resources.pods, (pod) => servicesSelecting(services, pod), {
        update: affectsEndpoints,
        delayMs: () => options.endpoints.endpointUpdatesBatchMs,
      })
      // Changes by others are overwritten.
      .watches(resources.endpoints, (changed) => reconciler.serviceOf(changed), { create: never })
      // A service may have been deleted while no controller was running.
      .initialKeys(() => endpoints.keys())
      .reconcile((key) => reconciler.reconcile(key))
  );
};

class EndpointsReconciler {
  private readonly services: Informer<Service>;
  private readonly pods: Informer<Pod>;
  private readonly endpoints: Informer<Endpoints>;
  private readonly recorder: EventRecorder;
  private readonly triggerTimes = new TriggerTimes();

  constructor(private readonly context: ControllerContext) {
    this.services = context.informers.informer(resources.services);
    this.pods = context.informers.informer(resources.pods);
    this.endpoints = context.informers.informer(resources.endpoints);
    this.recorder = context.recorder('endpoint-controller');
  }

  serviceOf(endpoints: Endpoints): string[] {
    const key = objectKey(endpoints);
    return this.services.lister.get(key) ? [key] : [];
  }

  async reconcile(key: string): Promise<ReconcileResult> {
    const service = this.services.lister.get(key);
    const existing = this.endpoints.lister.get(key);
    if (!service) {
      this.triggerTimes.forget(key);
      // The selector of a deleted service is unknown: its Endpoints are deleted in any case.
      if (existing && !isElectionLock(existing)) await this.delete(existing);
      return done;
    }
    if (mapSelectorOf(service).nothing) return done;
    const pods = podsOf(service, this.pods.lister);
    const trigger = this.triggerTimes.next(key, service, pods);
    const planned = planEndpoints(service, pods, existing, trigger.atMs);
    if (planned) await this.write(service, planned, existing);
    this.triggerTimes.cover(key, trigger);
    return done;
  }

  private async write(
    service: Service,
    planned: Endpoints,
    existing: Endpoints | undefined,
  ): Promise<void> {
    const client = this.context.client.resource(resources.endpoints, service.metadata?.namespace);
    try {
      await (existing ? client.replace(planned) : client.create(planned));
    } catch (error) {
      if (isNamespaceTerminating(error)) return;
      // The cache is behind an earlier write: retried without an event.
      if (isConflict(error) || isAlreadyExists(error)) throw error;
      const verb = existing ? 'update' : 'create';
      const reason = existing ? 'FailedToUpdateEndpoint' : 'FailedToCreateEndpoint';
      const message = `Failed to ${verb} endpoint ${objectKey(service)}: ${messageOf(error)}`;
      const regarding = { ...planned, apiVersion: 'v1', kind: 'Endpoints' };
      this.recorder.event(regarding, 'Warning', reason, message);
      throw error;
    }
  }

  private async delete({ metadata = {} }: Endpoints): Promise<void> {
    const { namespace, name = '', uid } = metadata;
    const client = this.context.client.resource(resources.endpoints, namespace);
    await ignoring(client.delete(name, { preconditions: { uid } }), isNotFound);
  }
}
