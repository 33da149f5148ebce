/**
 * Mirrors Endpoints objects that users write for services without a selector to endpoint slices,
 * and deletes the slices with the Endpoints or the service. A selector that is added later leaves
 * the mirrored slices as they are.
 */
import { type EventRecorder, type Informer, objectKey, resources, splitKey } from '@orch/client';
import { dialect } from '@orch/component';
import type { Endpoints, Service } from '@orch/types/core/v1';
import type { EndpointSlice } from '@orch/types/discovery/v1';
import {
  type ControllerContext,
  type ControllerFactory,
  done,
  type ReconcileResult,
} from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { mapSelectorOf } from '../common/selectors.js';
import { isElectionLock } from './election-lock.js';
import { MirrorMetrics, mirrorSubsystem } from './mirror-metrics.js';
import { type MirrorPlan, planMirror } from './mirror-plan.js';
import { SliceMetrics } from './slice-metrics.js';
import { SliceWriter } from './slice-writer.js';
import { mirrorManager, ownerKeyOf } from './slices.js';
import { indexByOwner, slicesOf } from './slices-by-owner.js';

export const endpointSliceMirroringController: ControllerFactory = (
  context,
  { endpoints: options },
) => {
  const reconciler = new MirroringReconciler(context, options.mirroredPerSubsetMax);
  return (
    controller('endpoint_slice_mirroring', context)
      .workers(options.mirroringSyncs)
      .for(resources.services, {
        create: hasNoSelector,
        update: (service, old) => hasNoSelector(service) !== hasNoSelector(old),
        delete: hasNoSelector,
      })
      .watches(resources.endpoints, keysOf, {
        create: isMirrored,
        update: (endpoints, old) => isMirrored(endpoints) || isMirrored(old),
        delayMs: () => options.mirroringBatchMs,
      })
      // Changes by others are overwritten.
      .watches(resources.endpointSlices, (slice) => ownerKeyOf(slice, mirrorManager()))
      .reconcile((key) => reconciler.reconcile(key))
  );
};

class MirroringReconciler {
  private readonly services: Informer<Service>;
  private readonly endpoints: Informer<Endpoints>;
  private readonly slices: Informer<EndpointSlice>;
  private readonly recorder: EventRecorder;
  private readonly metrics: MirrorMetrics;
  private readonly sliceMetrics: SliceMetrics;
  private readonly writer: SliceWriter;

  constructor(
    private readonly context: ControllerContext,
    private readonly addressCountMax: number,
  ) {
    this.services = context.informers.informer(resources.services);
    this.endpoints = context.informers.informer(resources.endpoints);
    this.slices = context.informers.informer(resources.endpointSlices);
    this.recorder = context.recorder('endpoint-slice-mirroring-controller');
    this.metrics = new MirrorMetrics(context.metrics);
    this.sliceMetrics = new SliceMetrics(context.metrics, mirrorSubsystem, addressCountMax);
    this.writer = new SliceWriter(context, mirrorManager(), this.sliceMetrics);
    indexByOwner(this.slices);
  }

  async reconcile(key: string): Promise<ReconcileResult> {
    const { clock } = this.context;
    const startMs = clock.monotonicMs();
    try {
      return await this.mirror(key);
    } finally {
      this.metrics.synced(clock.monotonicMs() - startMs);
    }
  }

  private async mirror(key: string): Promise<ReconcileResult> {
    const endpoints = this.endpoints.lister.get(key);
    const service = this.services.lister.get(key);
    const { namespace, name } = splitKey(key);
    const owner = { kind: 'Endpoints', namespace, name } as const;
    const existing = slicesOf(this.slices, key, mirrorManager());
    if (!endpoints || !service || !isMirrored(endpoints)) {
      this.writer.forget(key);
      this.sliceMetrics.forget(key);
      await this.writer.write(owner, { creates: [], updates: [], deletes: existing });
      return done;
    }
    if (!hasNoSelector(service) || !this.writer.isCacheCurrent(key)) return done;
    const plan = planMirror(endpoints, existing, this.addressCountMax);
    this.reportSkipped(endpoints, plan);
    this.metrics.planned(this.sliceMetrics.planned(key, existing, plan), plan.skippedCount);
    await this.writer.write(owner, plan);
    return done;
  }

  private reportSkipped(endpoints: Endpoints, { invalidCount, skippedCount }: MirrorPlan): void {
    const regarding = { ...endpoints, apiVersion: 'v1', kind: 'Endpoints' };
    if (invalidCount > 0) {
      const message = `Skipped ${invalidCount} invalid IP addresses when mirroring to EndpointSlices`;
      this.recorder.event(regarding, 'Warning', 'InvalidIPAddress', message);
    }
    if (skippedCount > invalidCount) {
      const limit = `A max of ${this.addressCountMax} addresses can be mirrored to EndpointSlices per Endpoints subset`;
      const message = `${limit}. ${skippedCount} addresses were skipped`;
      this.recorder.event(regarding, 'Warning', 'TooManyAddressesToMirror', message);
    }
  }
}

function keysOf(endpoints: Endpoints): string[] {
  return [objectKey(endpoints)];
}

function hasNoSelector(service: Service): boolean {
  return mapSelectorOf(service).nothing;
}

/** Whether neither a label nor its use as an election lock excludes the object. */
function isMirrored(endpoints: Endpoints): boolean {
  const skipLabel = dialect().key('skip-mirror', 'endpointslice');
  return endpoints.metadata?.labels?.[skipLabel] !== 'true' && !isElectionLock(endpoints);
}
