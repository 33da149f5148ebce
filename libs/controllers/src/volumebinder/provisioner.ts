/** Provides volumes for claims with a class: creates them, or leaves that to their provisioner. */
import { selectedNodeKey, storageClassName, storageProvisionerKey } from '@orch/apimachinery';
import { isAlreadyExists, isNotFound, type Lister, resources } from '@orch/client';
import { dialect } from '@orch/component';
import type { Node, PersistentVolumeClaim } from '@orch/types/core/v1';
import type { StorageClass } from '@orch/types/storage/v1';
import type { ControllerContext } from '../common/controller.js';
import { ignoring, messageOf } from '../common/expected-errors.js';
import { withAnnotation } from './binding-plan.js';
import { createLocalDirectory } from './local-directory.js';
import { hostPathProvisioner, planProvisioning } from './provisioning-plan.js';
import type { VolumeWriter } from './volume-writer.js';

export class Provisioner {
  constructor(
    private readonly context: ControllerContext,
    private readonly writer: VolumeWriter,
    private readonly classes: Lister<StorageClass>,
    private readonly isHostPathEnabled: boolean,
  ) {}

  /** Level-based: once the volume exists, the claim finds it by its reference. */
  async provision(claim: PersistentVolumeClaim): Promise<void> {
    const className = storageClassName(claim);
    const storageClass = this.classes.get(className);
    if (!storageClass) {
      this.fail(claim, `storageclass.${dialect().group('storage')} "${className}" not found`);
      return;
    }
    const { isHostPathEnabled } = this;
    const node = await this.selectedNode(claim);
    const plan = planProvisioning({ claim, storageClass, node, isHostPathEnabled });
    if (plan.by === 'nobody') {
      this.fail(claim, plan.reason);
      if (plan.isNodeAtFault) await this.unselectNode(claim);
      return;
    }
    const marked = await this.markProvisioner(claim, storageClass.provisioner);
    if (plan.by === 'external') {
      const message = `waiting for a volume to be created, either by external provisioner "${storageClass.provisioner}" or manually created by system administrator`;
      this.writer.record(marked, { type: 'Normal', reason: 'ExternalProvisioning', message });
      return;
    }
    const { volume } = plan;
    const name = volume.metadata?.name ?? '';
    try {
      if (storageClass.provisioner === hostPathProvisioner()) {
        await createLocalDirectory(volume.spec?.hostPath?.path ?? '');
      }
      const creation = this.context.client.resource(resources.persistentVolumes).create(volume);
      // Created by an earlier reconciliation; the cache has not seen it yet.
      if (!(await ignoring(creation, isAlreadyExists))) return;
    } catch (error) {
      const text = `Failed to provision volume with StorageClass "${className}": ${messageOf(error)}`;
      this.fail(marked, text);
      throw error;
    }
    const message = `Successfully provisioned volume ${name} using ${storageClass.provisioner}`;
    this.writer.record(marked, { type: 'Normal', reason: 'ProvisioningSucceeded', message });
  }

  private fail(claim: PersistentVolumeClaim, message: string): void {
    this.writer.record(claim, { type: 'Warning', reason: 'ProvisioningFailed', message });
  }

  private async selectedNode({ metadata }: PersistentVolumeClaim): Promise<Node | undefined> {
    const name = metadata?.annotations?.[selectedNodeKey()];
    if (!name) return undefined;
    return ignoring(this.context.client.resource(resources.nodes).get(name), isNotFound);
  }

  /** Lets the scheduler select another node. */
  private async unselectNode(claim: PersistentVolumeClaim): Promise<void> {
    const { [selectedNodeKey()]: _, ...annotations } = claim.metadata?.annotations ?? {};
    await this.writer.replaceClaim({ ...claim, metadata: { ...claim.metadata, annotations } });
  }

  private async markProvisioner(
    claim: PersistentVolumeClaim,
    provisioner: string,
  ): Promise<PersistentVolumeClaim> {
    const key = storageProvisionerKey();
    if (claim.metadata?.annotations?.[key] === provisioner) return claim;
    return this.writer.replaceClaim(withAnnotation(claim, key, provisioner));
  }
}
