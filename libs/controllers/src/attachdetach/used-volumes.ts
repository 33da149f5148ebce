/** Finds the volumes of CSI drivers that the pods of a node use. */
import { isClaimBound } from '@orch/apimachinery';
import { type Informer, keyOf, type Lister, resources } from '@orch/client';
import { dialect } from '@orch/component';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '@orch/types/core/v1';
import type { CSIDriver } from '@orch/types/storage/v1';
import type { ControllerContext } from '../common/controller.js';
import { claimKeys } from '../common/pod-claims.js';
import { isPodFinished } from '../common/pods.js';
import type { UsedVolume } from './attachment-plan.js';

const byNode = 'node of volumes';
const byClaim = 'used claim';

export class UsedVolumes {
  private readonly pods: Informer<Pod>;
  private readonly claims: Lister<PersistentVolumeClaim>;
  private readonly volumes: Lister<PersistentVolume>;
  private readonly drivers: Lister<CSIDriver>;

  constructor({ informers }: ControllerContext) {
    this.pods = informers.informer(resources.pods);
    this.pods.addIndex(byNode, ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []));
    this.pods.addIndex(byClaim, claimKeys);
    this.claims = informers.informer(resources.persistentVolumeClaims).lister;
    this.volumes = informers.informer(resources.persistentVolumes).lister;
    this.drivers = informers.informer(resources.csiDrivers).lister;
  }

  /** By volume name. A finished pod uses none. */
  onNode(nodeName: string): Map<string, UsedVolume> {
    const used = new Map<string, { volume: PersistentVolume; pods: Pod[] }>();
    for (const pod of this.pods.lister.byIndex(byNode, nodeName)) {
      if (isPodFinished(pod)) continue;
      for (const key of claimKeys(pod)) {
        const volume = this.volumeOf(key);
        if (!volume || !this.isAttachable(volume)) continue;
        const name = volume.metadata?.name ?? '';
        const entry = used.get(name) ?? { volume, pods: [] };
        entry.pods.push(pod);
        used.set(name, entry);
      }
    }
    return used;
  }

  /** Returns the names of the nodes whose pods use the claim. */
  nodesOfClaim(claimKey: string): string[] {
    const pods = this.pods.lister.byIndex(byClaim, claimKey);
    return pods.flatMap(({ spec }) => spec?.nodeName ?? []);
  }

  nodesOfVolume({ spec }: PersistentVolume): string[] {
    const { namespace, name } = spec?.claimRef ?? {};
    return name ? this.nodesOfClaim(keyOf(namespace, name)) : [];
  }

  /** Returns the name of a volume in the status of nodes. */
  statusName(volumeName: string): string | undefined {
    const csi = this.volumes.get(volumeName)?.spec?.csi;
    return csi && dialect().key(`csi/${csi.driver}^${csi.volumeHandle}`);
  }

  private volumeOf(claimKey: string): PersistentVolume | undefined {
    const claim = this.claims.get(claimKey);
    if (!claim || !isClaimBound(claim)) return undefined;
    const volume = this.volumes.get(claim.spec?.volumeName ?? '');
    return volume?.spec?.claimRef?.uid === claim.metadata?.uid ? volume : undefined;
  }

  private isAttachable({ spec }: PersistentVolume): boolean {
    if (!spec?.csi) return false;
    return this.drivers.get(spec.csi.driver)?.spec.attachRequired !== false;
  }
}
