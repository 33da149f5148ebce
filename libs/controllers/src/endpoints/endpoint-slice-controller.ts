/**
 * Writes the endpoint slices of every service that selects pods. Slices of a deleted service are
 * left to the garbage collector.
 */
import {
  type EventRecorder,
  type Informer,
  isAlreadyExists,
  isConflict,
  objectKey,
  resources,
} from '@orch/client';
import { dialect } from '@orch/component';
import type { Node, Pod, Service } from '@orch/types/core/v1';
import type { EndpointSlice } from '@orch/types/discovery/v1';
import {
  type ControllerContext,
  type ControllerFactory,
  done,
  type ReconcileResult,
} from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { messageOf } from '../common/expected-errors.js';
import { indexByNode, podsOnNode } from '../common/pods-by-node.js';
import { mapSelectorOf } from '../common/selectors.js';
import { never } from '../common/watches.js';
import { affectsEndpoints, podsOf, servicesSelecting } from './service-pods.js';
import { isListed } from './slice-endpoints.js';
import { SliceMetrics } from './slice-metrics.js';
import { planSlices } from './slice-plan.js';
import { SliceWriter } from './slice-writer.js';
import { ownerKeyOf, sliceManager } from './slices.js';
import { indexByOwner, slicesOf } from './slices-by-owner.js';
import { TriggerTimes } from './trigger-times.js';

export const endpointSliceController: ControllerFactory = (context, { endpoints: options }) => {
  const reconciler = new EndpointSliceReconciler(context, options.endpointsPerSliceMax);
  const services = context.informers.informer(resources.services).lister;
  return (
    controller('endpoint_slice', context)
      .workers(options.sliceSyncs)
      .for(resources.services)
      .watches(resources.pods, (pod) => servicesSelecting(services, pod), {
        update: affectsEndpoints,
        delayMs: () => options.sliceUpdatesBatchMs,
      })
      // Changes by others are overwritten.
      .watches(resources.endpointSlices, (slice) => ownerKeyOf(slice, sliceManager()))
      .watches(resources.nodes, (node) => reconciler.servicesOn(node), {
        update: (node, old) => zoneOf(node) !== zoneOf(old),
        delete: never,
      })
      .reconcile((key) => reconciler.reconcile(key))
  );
};

class EndpointSliceReconciler {
  private readonly services: Informer<Service>;
  private readonly pods: Informer<Pod>;
  private readonly nodes: Informer<Node>;
  private readonly slices: Informer<EndpointSlice>;
  private readonly recorder: EventRecorder;
  private readonly metrics: SliceMetrics;
  private readonly writer: SliceWriter;
  private readonly triggerTimes = new TriggerTimes();

  constructor(
    context: ControllerContext,
    private readonly endpointCountMax: number,
  ) {
    this.services = context.informers.informer(resources.services);
    this.pods = context.informers.informer(resources.pods);
    this.nodes = context.informers.informer(resources.nodes);
    this.slices = context.informers.informer(resources.endpointSlices);
    this.recorder = context.recorder('endpoint-slice-controller');
    this.metrics = new SliceMetrics(context.metrics, 'endpoint_slice_controller', endpointCountMax);
    this.writer = new SliceWriter(context, sliceManager(), this.metrics);
    indexByNode(this.pods);
    indexByOwner(this.slices);
  }

  /** Keys of the services with pods on the node. */
  servicesOn({ metadata }: Node): Set<string> {
    const pods = podsOnNode(this.pods, metadata?.name ?? '');
    return new Set(pods.flatMap((pod) => servicesSelecting(this.services.lister, pod)));
  }

  async reconcile(key: string): Promise<ReconcileResult> {
    const service = this.services.lister.get(key);
    if (!service) {
      this.triggerTimes.forget(key);
      this.writer.forget(key);
      this.metrics.forget(key);
      return done;
    }
    if (service.spec?.type === 'ExternalName' || mapSelectorOf(service).nothing) return done;
    if (!this.writer.isCacheCurrent(key)) return done;
    try {
      await this.reconcileService(key, service);
    } catch (error) {
      // The cache is behind an earlier write: retried without an event.
      if (!isConflict(error) && !isAlreadyExists(error)) this.reportFailure(service, error);
      throw error;
    }
    return done;
  }

  private async reconcileService(key: string, service: Service): Promise<void> {
    const { name = '', namespace = '' } = service.metadata ?? {};
    const pods = podsOf(service, this.pods.lister);
    this.checkNodes(pods.filter((pod) => isListed(service, pod)));
    const trigger = this.triggerTimes.next(key, service, pods);
    const existing = slicesOf(this.slices, key, sliceManager());
    const changes = planSlices({
      service,
      pods,
      existing,
      zoneOf: (nodeName) => zoneOf(this.nodes.lister.get(nodeName)),
      endpointCountMax: this.endpointCountMax,
      triggerMs: trigger.atMs,
    });
    this.metrics.planned(key, existing, changes);
    await this.writer.write({ kind: 'Service', namespace, name }, changes);
    this.triggerTimes.cover(key, trigger);
  }

  /** The zone of a pod is unknown before its node is registered, which enqueues the service. */
  private checkNodes(pods: readonly Pod[]): void {
    for (const { spec } of pods) {
      const name = spec?.nodeName ?? '';
      if (!this.nodes.lister.get(name)) throw new Error(`node "${name}" not found`);
    }
  }

  private reportFailure(service: Service, error: unknown): void {
    const regarding = { ...service, apiVersion: 'v1', kind: 'Service' };
    const subject = `Error updating Endpoint Slices for Service ${objectKey(service)}`;
    const message = `${subject}: ${messageOf(error)}`;
    this.recorder.event(regarding, 'Warning', 'FailedToUpdateEndpointSlices', message);
  }
}

function zoneOf(node: Node | undefined): string | undefined {
  return node?.metadata?.labels?.[dialect().key('zone', 'topology')] || undefined;
}
