/**
 * Binds claims to volumes, provisions and reclaims volumes. The shell around `planClaim` and
 * `planVolume`. Claims and volumes have a queue each, with one worker: two claims that want the
 * same volume get it one after the other, and the version of the volume decides between writers.
 */
import { storageClassName } from '@orch/apimachinery';
import { type Informer, keyOf, objectKey, resources } from '@orch/client';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '@orch/types/core/v1';
import type { StorageClass } from '@orch/types/storage/v1';
import {
  type ControllerContext,
  type ControllerFactory,
  done,
  type ReconcileResult,
} from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { claimKeys } from '../common/pod-claims.js';
import type { StorageOptions } from '../common/storage-options.js';
import { never, watch } from '../common/watches.js';
import { volumeWithoutClaim } from './binding-plan.js';
import { type ClaimState, planClaim } from './claim-plan.js';
import { HelperPods, volumesOfHelper } from './helper-pods.js';
import { Provisioner } from './provisioner.js';
import { recyclingPolicies } from './recycling-policies.js';
import { planVolume } from './volume-plan.js';
import { VolumeReclaimer } from './volume-reclaimer.js';
import { VolumeWriter } from './volume-writer.js';

const byClass = 'storage class';
const byClaim = 'claim';
const byVolume = 'volume';
const byWaitingPod = 'claim of an unscheduled pod';

export const volumeBinder: ControllerFactory = (context, { storage }) => {
  const { informers } = context;
  const binder = new VolumeBinder(context, storage);
  const volumes = informers.informer(resources.persistentVolumes);
  const claims = informers.informer(resources.persistentVolumeClaims);
  const builder = controller('claims', context)
    .for(resources.persistentVolumeClaims, { delete: never })
    .watches(resources.persistentVolumes, (volume) => binder.claimsOf(volume));
  const queue = builder.extraQueue('volumes', 1, (key) => binder.reconcileVolume(key));
  watch(context, queue, resources.persistentVolumes, (volume) => [objectKey(volume)], {
    delete: never,
  });
  watch(context, queue, resources.persistentVolumeClaims, (claim) => binder.volumesOf(claim), {});
  watch(context, queue, resources.pods, volumesOfHelper, {});
  return builder
    .every(storage.claimBinderSyncPeriodMs, async () => {
      for (const key of volumes.lister.keys()) queue.add(key);
      for (const key of claims.lister.keys()) builder.queue.add(key);
    })
    .reconcile((key) => binder.reconcileClaim(key));
};

/** Returns the key of the claim that the volume is bound to or reserved for. */
function reservedClaim({ spec }: PersistentVolume): string[] {
  const { namespace, name } = spec?.claimRef ?? {};
  return name ? [keyOf(namespace, name)] : [];
}

class VolumeBinder {
  private readonly claims: Informer<PersistentVolumeClaim>;
  private readonly volumes: Informer<PersistentVolume>;
  private readonly classes: Informer<StorageClass>;
  private readonly pods: Informer<Pod>;
  private readonly writer: VolumeWriter;
  private readonly provisioner: Provisioner;
  private readonly reclaimer: VolumeReclaimer;

  constructor(
    context: ControllerContext,
    private readonly options: StorageOptions,
  ) {
    const { informers } = context;
    this.claims = informers.informer(resources.persistentVolumeClaims);
    this.volumes = informers.informer(resources.persistentVolumes);
    this.classes = informers.informer(resources.storageClasses);
    this.pods = informers.informer(resources.pods);
    this.volumes.addIndex(byClass, (volume) => [storageClassName(volume)]);
    this.volumes.addIndex(byClaim, reservedClaim);
    this.claims.addIndex(byVolume, ({ spec }) => [spec?.volumeName ?? '']);
    this.pods.addIndex(byWaitingPod, (pod) => (pod.spec?.nodeName ? [] : claimKeys(pod)));
    this.writer = new VolumeWriter(context);
    this.provisioner = new Provisioner(
      context,
      this.writer,
      this.classes.lister,
      options.enableHostPathProvisioner,
    );
    const helpers = new HelperPods(context);
    const policies = recyclingPolicies(options);
    this.reclaimer = new VolumeReclaimer(context, this.writer, helpers, policies);
  }

  /** Returns the keys of the claims that a volume names or that name it. */
  claimsOf(volume: PersistentVolume): Set<string> {
    const naming = this.claims.lister.byIndex(byVolume, volume.metadata?.name ?? '');
    return new Set([...reservedClaim(volume), ...naming.map(objectKey)]);
  }

  /** Returns the keys of the volumes that a claim names or that name it. */
  volumesOf(claim: PersistentVolumeClaim): Set<string> {
    const named = claim.spec?.volumeName ? [claim.spec.volumeName] : [];
    const own = this.volumes.lister.byIndex(byClaim, objectKey(claim)).map(objectKey);
    return new Set([...named, ...own]);
  }

  async reconcileClaim(key: string): Promise<ReconcileResult> {
    const claim = this.claims.lister.get(key);
    if (!claim) return done;
    const decision = planClaim(this.stateOf(key, claim));
    switch (decision.act) {
      case 'bind':
        await this.writer.bind(decision.volume, claim);
        break;
      case 'lose':
        await this.writer.markUnbound(claim, 'Lost', decision.notice);
        break;
      case 'wait':
        this.writer.record(claim, decision.notice);
        await this.writer.markUnbound(claim, 'Pending');
        break;
      case 'provision':
        await this.provision(claim);
    }
    return done;
  }

  private async provision(claim: PersistentVolumeClaim): Promise<void> {
    const pending = await this.writer.markUnbound(claim, 'Pending');
    if (this.options.enableDynamicProvisioning) await this.provisioner.provision(pending);
  }

  private stateOf(key: string, claim: PersistentVolumeClaim): ClaimState {
    const className = storageClassName(claim);
    const { lister } = this.volumes;
    const waitingPods = this.pods.lister.byIndex(byWaitingPod, key);
    return {
      claim,
      namedVolume: lister.get(claim.spec?.volumeName ?? ''),
      candidates: [...lister.byIndex(byClaim, key), ...lister.byIndex(byClass, className)],
      storageClass: className === '' ? undefined : this.classes.lister.get(className),
      waitingPods: waitingPods.map(({ metadata }) => metadata?.name ?? '').sort(),
    };
  }

  async reconcileVolume(key: string): Promise<ReconcileResult> {
    const volume = this.volumes.lister.get(key);
    if (!volume) return done;
    const claim = this.claimOf(volume);
    const decision = planVolume({ volume, claim });
    switch (decision.act) {
      case 'mark':
        await this.writer.mark(volume, decision.phase);
        break;
      case 'reconcile claim':
        this.writer.record(volume, decision.notice);
        if (claim) this.writer.record(claim, decision.notice);
        break;
      case 'unbind': {
        const free = await this.writer.replaceVolume(volume, volumeWithoutClaim(volume));
        await this.writer.mark(free, 'Available');
        break;
      }
      case 'reclaim':
        await this.reclaimer.reclaim(volume);
    }
    return done;
  }

  private claimOf({ spec }: PersistentVolume): PersistentVolumeClaim | undefined {
    const { namespace, name = '', uid } = spec?.claimRef ?? {};
    const claim = this.claims.lister.get(keyOf(namespace, name));
    return claim?.metadata?.uid === uid ? claim : undefined;
  }
}
