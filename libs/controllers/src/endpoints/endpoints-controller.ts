/**
 * Keeps the Endpoints of every service that selects pods. Services without a selector are left to whoever
 * made them. Level-based: a service's key in, its Endpoints out.
 */
import { semanticallyEqual } from '@orch/apimachinery';
import {
  type EventRecorder,
  type Informer,
  isAlreadyExists,
  isConflict,
  isNamespaceTerminating,
  isNotFound,
  objectKey,
  resources,
  splitKey,
  type WorkQueue,
} from '@orch/client';
import { dialect } from '@orch/component';
import type { Endpoints, Pod, Service } from '@orch/types/core/v1';
import { isPodReady } from '../common/pods.js';
import { mapSelectorOf } from '../common/selectors.js';
import {
  type Controller,
  type ControllerContext,
  queueFor,
  workOff,
} from '../manager/controller.js';
import { planEndpoints } from './endpoints-plan.js';

export class EndpointsController implements Controller {
  private readonly services: Informer<Service>;
  private readonly pods: Informer<Pod>;
  private readonly endpoints: Informer<Endpoints>;
  private readonly queue: WorkQueue;
  private readonly recorder: EventRecorder;

  constructor(
    private readonly context: ControllerContext,
    private readonly workerCount: number,
  ) {
    this.services = context.informers.informer(resources.services);
    this.pods = context.informers.informer(resources.pods);
    this.endpoints = context.informers.informer(resources.endpoints);
    this.queue = queueFor(context, 'endpoint');
    this.recorder = context.recorder('endpoint-controller');
    this.services.addHandlers({
      onAdd: (service) => this.queue.add(objectKey(service)),
      onUpdate: (service) => this.queue.add(objectKey(service)),
      onDelete: (service) => this.queue.add(objectKey(service)),
    });
    this.pods.addHandlers({
      onAdd: (pod) => this.podChanged(pod),
      onUpdate: (pod, old) => {
        if (!concernsEndpoints(pod, old)) return;
        this.podChanged(pod);
        if (!semanticallyEqual(pod.metadata?.labels, old.metadata?.labels)) this.podChanged(old);
      },
      onDelete: (pod) => this.podChanged(pod),
    });
    // Somebody else's change to what is ours is put right again.
    this.endpoints.addHandlers({
      onUpdate: (endpoints) => this.endpointsChanged(endpoints),
      onDelete: (endpoints) => this.endpointsChanged(endpoints),
    });
  }

  run(signal: AbortSignal): Promise<void> {
    // Services may have gone while nobody looked: each object is checked once.
    for (const key of this.endpoints.lister.keys()) this.queue.add(key);
    return workOff(this.queue, this.workerCount, signal, (key) => this.reconcile(key));
  }

  private endpointsChanged(endpoints: Endpoints): void {
    const key = objectKey(endpoints);
    if (this.services.lister.get(key)) this.queue.add(key);
  }

  private async reconcile(key: string): Promise<undefined> {
    const service = this.services.lister.get(key);
    const existing = this.endpoints.lister.get(key);
    if (!service) {
      // Whether it had a selector is no longer known: an Endpoints object goes with its service.
      if (existing && !isElectionLock(existing)) await this.delete(key, existing);
      return;
    }
    const selector = mapSelectorOf(service);
    if (selector.nothing) return;
    const { namespace = '' } = service.metadata ?? {};
    const pods = this.pods.lister
      .list(namespace)
      .filter((pod) => selector.matches(pod.metadata?.labels));
    const wanted = planEndpoints(service, pods, existing);
    if (wanted) await this.write(service, wanted, existing);
  }

  private async write(
    service: Service,
    wanted: Endpoints,
    existing: Endpoints | undefined,
  ): Promise<void> {
    const handle = this.context.client.resource(resources.endpoints, service.metadata?.namespace);
    try {
      await (existing ? handle.replace(wanted) : handle.create(wanted));
    } catch (error) {
      if (isNamespaceTerminating(error)) return;
      // The cache is behind what an earlier sync wrote: no failure that anyone need know of.
      if (isConflict(error) || isAlreadyExists(error)) throw error;
      const verb = existing ? 'update' : 'create';
      const reason = existing ? 'FailedToUpdateEndpoint' : 'FailedToCreateEndpoint';
      const cause = error instanceof Error ? error.message : String(error);
      const message = `Failed to ${verb} endpoint ${objectKey(service)}: ${cause}`;
      this.recorder.event(
        { ...wanted, apiVersion: 'v1', kind: 'Endpoints' },
        'Warning',
        reason,
        message,
      );
      throw error;
    }
  }

  private async delete(key: string, existing: Endpoints): Promise<void> {
    const { namespace, name } = splitKey(key);
    try {
      await this.context.client
        .resource(resources.endpoints, namespace)
        .delete(name, { preconditions: { uid: existing.metadata?.uid } });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  private podChanged(pod: Pod): void {
    const { labels, namespace = '' } = pod.metadata ?? {};
    for (const service of this.services.lister.list(namespace)) {
      if (mapSelectorOf(service).matches(labels)) {
        this.queue.add(objectKey(service));
      }
    }
  }
}

/** Leader election of older clients keeps its record in an Endpoints object without a service. */
function isElectionLock(endpoints: Endpoints): boolean {
  const key = dialect().key('leader', 'control-plane.alpha');
  return endpoints.metadata?.annotations?.[key] !== undefined;
}

/** Whether a pod's change can be seen in the Endpoints of any service. */
function concernsEndpoints(pod: Pod, old: Pod): boolean {
  return (
    pod === old ||
    isPodReady(pod) !== isPodReady(old) ||
    pod.status?.phase !== old.status?.phase ||
    Boolean(pod.metadata?.deletionTimestamp) !== Boolean(old.metadata?.deletionTimestamp) ||
    pod.spec?.nodeName !== old.spec?.nodeName ||
    !semanticallyEqual(pod.status?.podIPs, old.status?.podIPs) ||
    pod.status?.podIP !== old.status?.podIP ||
    !semanticallyEqual(pod.metadata?.labels, old.metadata?.labels)
  );
}
