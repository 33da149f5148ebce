/**
 * Reclaims volumes whose claim is deleted, by their policy: retains, recycles or deletes them.
 * Invariant: no data is deleted before the API server confirms that the volume is unchanged and
 * that its claim does not exist.
 */
import { isConflict, isNotFound, resources, TransportError } from '@orch/client';
import type { PersistentVolume, PersistentVolumeClaim } from '@orch/types/core/v1';
import type { ControllerContext } from '../common/controller.js';
import { ignoring, messageOf } from '../common/expected-errors.js';
import { volumeWithoutClaim } from './binding-plan.js';
import type { HelperPods } from './helper-pods.js';
import { deleteLocalDirectory } from './local-directory.js';
import { planDeletion, type RecyclingPolicies, recyclingPod } from './reclaim-plan.js';
import { planVolume } from './volume-plan.js';
import type { VolumeWriter } from './volume-writer.js';

export class VolumeReclaimer {
  constructor(
    private readonly context: ControllerContext,
    private readonly writer: VolumeWriter,
    private readonly pods: HelperPods,
    private readonly policies: RecyclingPolicies,
  ) {}

  async reclaim(cached: PersistentVolume): Promise<void> {
    if (this.isComplete(cached)) return;
    const volume = await this.confirmed(cached);
    if (!volume) return;
    const { phase } = volume.status ?? {};
    const isMarked = phase === 'Released' || phase === 'Failed';
    const released = isMarked ? volume : await this.writer.mark(volume, 'Released');
    // A volume that a user deletes loses only its object.
    if (released.metadata?.deletionTimestamp) return;
    switch (released.spec?.persistentVolumeReclaimPolicy) {
      case 'Delete':
        return this.attempt(released, 'VolumeFailedDelete', () => this.delete(released));
      case 'Recycle':
        return this.attempt(released, 'VolumeFailedRecycle', () => this.recycle(released));
      default:
    }
  }

  /** Whether the volume waits for a user or its provisioner, so that nothing is left to do. */
  private isComplete(volume: PersistentVolume): boolean {
    const { phase } = volume.status ?? {};
    if (phase !== 'Released' && phase !== 'Failed') return false;
    const policy = volume.spec?.persistentVolumeReclaimPolicy;
    if (policy === 'Recycle') return false;
    return policy !== 'Delete' || planDeletion(volume, this.policies).by === 'external provisioner';
  }

  /** Returns the stored volume; undefined if it changed, or its claim exists. */
  private async confirmed({ metadata }: PersistentVolume): Promise<PersistentVolume | undefined> {
    const { client } = this.context;
    const reading = client.resource(resources.persistentVolumes).get(metadata?.name ?? '');
    const volume = await ignoring(reading, isNotFound);
    if (!volume || volume.metadata?.uid !== metadata?.uid) return undefined;
    const claim = await this.storedClaim(volume);
    return planVolume({ volume, claim }).act === 'reclaim' ? volume : undefined;
  }

  private async storedClaim({
    spec,
  }: PersistentVolume): Promise<PersistentVolumeClaim | undefined> {
    const { namespace, name = '', uid } = spec?.claimRef ?? {};
    const claims = this.context.client.resource(resources.persistentVolumeClaims, namespace);
    const claim = await ignoring(claims.get(name), isNotFound);
    return claim?.metadata?.uid === uid ? claim : undefined;
  }

  /** A failure is reported by the volume and retried. */
  private async attempt(
    volume: PersistentVolume,
    reason: string,
    act: () => Promise<void>,
  ): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (isConflict(error) || error instanceof TransportError) throw error;
      const message = messageOf(error);
      this.writer.record(volume, { type: 'Warning', reason, message });
      await this.writer.mark(volume, 'Failed', message);
    }
  }

  private async delete(volume: PersistentVolume): Promise<void> {
    const plan = planDeletion(volume, this.policies);
    switch (plan.by) {
      case 'nobody':
        throw new Error(
          `error getting deleter of volume "${volume.metadata?.name}": ${plan.reason}`,
        );
      case 'external provisioner':
        return;
      case 'pod':
        if (await this.pods.run(volume, plan.spec)) await this.writer.deleteVolume(volume);
        return;
      case 'controller':
        await deleteLocalDirectory(plan.path);
        await this.writer.deleteVolume(volume);
    }
  }

  private async recycle(volume: PersistentVolume): Promise<void> {
    const spec = recyclingPod(volume, this.policies);
    if (!spec) throw new Error('No recycler plugin found for the volume!');
    if (!(await this.pods.run(volume, spec))) return;
    const message = 'Volume recycled';
    this.writer.record(volume, { type: 'Normal', reason: 'VolumeRecycled', message });
    const free = await this.writer.replaceVolume(volume, volumeWithoutClaim(volume));
    await this.writer.mark(free, 'Available');
  }
}
