/** Writes volumes and claims, and records events about them. */
import {
  type ApiClient,
  type EventRecorder,
  isConflict,
  isNotFound,
  type ResourceClient,
  resources,
} from '@orch/client';
import type { PersistentVolume, PersistentVolumeClaim } from '@orch/types/core/v1';
import type { ControllerContext } from '../common/controller.js';
import { ignoring } from '../common/expected-errors.js';
import {
  boundClaim,
  claimWithVolume,
  unboundClaim,
  volumeWithClaim,
  volumeWithPhase,
} from './binding-plan.js';
import type { Notice } from './claim-plan.js';

type Phase = Parameters<typeof volumeWithPhase>[1];

export class VolumeWriter {
  private readonly client: ApiClient;
  private readonly recorder: EventRecorder;

  constructor(context: ControllerContext) {
    this.client = context.client;
    this.recorder = context.recorder('persistentvolume-controller');
  }

  record(object: PersistentVolume | PersistentVolumeClaim, notice: Notice | undefined): void {
    if (notice) this.recorder.event(object, notice.type, notice.reason, notice.message);
  }

  /**
   * Binds in four writes, each of which the next reconciliation of either object continues from:
   * the reference of the volume, its phase, the name in the claim, the status of the claim.
   */
  async bind(volume: PersistentVolume, claim: PersistentVolumeClaim): Promise<void> {
    const claims = this.claimsIn(claim);
    const reserved = await this.replaceVolume(volume, volumeWithClaim(volume, claim));
    const bound = await this.mark(reserved, 'Bound');
    const named = claimWithVolume(claim, bound);
    const latest = named ? await claims.replace(named) : claim;
    const status = boundClaim(latest, bound);
    if (status) await claims.replaceStatus(status);
  }

  /**
   * Writes the phase of a claim without a volume. Records the notice if the phase changes.
   * @returns the stored claim.
   */
  async markUnbound(
    claim: PersistentVolumeClaim,
    phase: 'Pending' | 'Lost',
    notice?: Notice,
  ): Promise<PersistentVolumeClaim> {
    const changed = unboundClaim(claim, phase);
    if (!changed) return claim;
    const stored = await this.claimsIn(claim).replaceStatus(changed);
    this.record(claim, notice);
    return stored;
  }

  /** Writes the phase of a volume if it changes. @returns the stored volume. */
  async mark(volume: PersistentVolume, phase: Phase, message = ''): Promise<PersistentVolume> {
    const changed = volumeWithPhase(volume, phase, message);
    if (!changed) return volume;
    return this.client.resource(resources.persistentVolumes).replaceStatus(changed);
  }

  async replaceVolume(
    volume: PersistentVolume,
    changed: PersistentVolume | undefined,
  ): Promise<PersistentVolume> {
    if (!changed) return volume;
    return this.client.resource(resources.persistentVolumes).replace(changed);
  }

  async replaceClaim(changed: PersistentVolumeClaim): Promise<PersistentVolumeClaim> {
    return this.claimsIn(changed).replace(changed);
  }

  /** Deletes the object of a volume whose data is deleted. */
  async deleteVolume({ metadata }: PersistentVolume): Promise<void> {
    const { name = '', uid } = metadata ?? {};
    const deletion = this.client
      .resource(resources.persistentVolumes)
      .delete(name, { preconditions: { uid } });
    await ignoring(deletion, isNotFound, isConflict);
  }

  private claimsIn({ metadata }: PersistentVolumeClaim): ResourceClient<PersistentVolumeClaim> {
    return this.client.resource(resources.persistentVolumeClaims, metadata?.namespace);
  }
}
