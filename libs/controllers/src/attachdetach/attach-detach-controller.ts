/**
 * Has the CSI drivers attach volumes to the nodes of the pods that use them, and detach them, by
 * creating and deleting volume attachments. The shell around `planAttachments`; a key is the name
 * of a node. Only nodes with the annotation `controller-managed-attach-detach` are served.
 */
import { createHash } from 'node:crypto';
import { semanticallyEqual } from '@orch/apimachinery';
import {
  type EventRecorder,
  type Informer,
  isAlreadyExists,
  isConflict,
  isNotFound,
  objectKey,
  resources,
} from '@orch/client';
import { dialect } from '@orch/component';
import type { Node } from '@orch/types/core/v1';
import type { VolumeAttachment } from '@orch/types/storage/v1';
import {
  type ControllerContext,
  type ControllerFactory,
  done,
  type ReconcileResult,
} from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { ignoring } from '../common/expected-errors.js';
import { replaceStatus } from '../common/replace-status.js';
import { never } from '../common/watches.js';
import { limits } from '../limits.js';
import {
  type AttachmentPlan,
  planAttachments,
  type UsedVolume,
  volumeNameOf,
} from './attachment-plan.js';
import { UsedVolumes } from './used-volumes.js';

const byNode = 'node';
const byVolume = 'volume';
const managedKey = () => dialect().key('controller-managed-attach-detach', 'volumes');

export const attachDetachController: ControllerFactory = (context, { storage }) => {
  const { informers } = context;
  const attacher = new Attacher(context);
  const { used } = attacher;
  const nodes = informers.informer(resources.nodes).lister;
  const builder = controller('attachdetach', context)
    .workers(limits.attachDetachWorkerCount)
    .for(resources.nodes, { update: isRelevant })
    .watches(resources.pods, ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []))
    .watches(resources.persistentVolumeClaims, (claim) => used.nodesOfClaim(objectKey(claim)), {
      delete: never,
    })
    .watches(resources.persistentVolumes, (volume) => used.nodesOfVolume(volume), {
      delete: never,
    })
    .watches(resources.volumeAttachments, (attachment) => attacher.nodesOf(attachment));
  if (!storage.disableAttachDetachSync) {
    builder.every(storage.attachDetachSyncPeriodMs, async () => {
      for (const name of nodes.keys()) builder.queue.add(name);
    });
  }
  return builder.reconcile((name) => attacher.reconcile(name));
};

function isRelevant(node: Node, old: Node): boolean {
  const facts = ({ metadata, status }: Node) => [
    metadata?.annotations?.[managedKey()],
    status?.volumesInUse,
    status?.volumesAttached,
  ];
  return node === old || !semanticallyEqual(facts(node), facts(old));
}

class Attacher {
  readonly used: UsedVolumes;
  private readonly nodes: Informer<Node>;
  private readonly attachments: Informer<VolumeAttachment>;
  private readonly recorder: EventRecorder;
  /** Since when no pod has used an attached volume, by uid of the attachment. Monotonic. */
  private readonly unusedSinceMs = new Map<string, number>();

  constructor(private readonly context: ControllerContext) {
    this.used = new UsedVolumes(context);
    this.nodes = context.informers.informer(resources.nodes);
    this.attachments = context.informers.informer(resources.volumeAttachments);
    this.attachments.addIndex(byNode, ({ spec }) => [spec.nodeName]);
    this.attachments.addIndex(byVolume, (attachment) => [volumeNameOf(attachment)]);
    this.attachments.addHandlers({
      onDelete: ({ metadata }) => this.unusedSinceMs.delete(metadata?.uid ?? ''),
    });
    this.recorder = context.recorder('attachdetach-controller');
  }

  /** Returns the node of the attachment, and the nodes that wait for its volume. */
  nodesOf(attachment: VolumeAttachment): Set<string> {
    const volumes = this.context.informers.informer(resources.persistentVolumes).lister;
    const volume = volumes.get(volumeNameOf(attachment));
    const waiting = volume ? this.used.nodesOfVolume(volume) : [];
    return new Set([attachment.spec.nodeName, ...waiting]);
  }

  async reconcile(nodeName: string): Promise<ReconcileResult> {
    const node = this.nodes.lister.get(nodeName);
    if (node && node.metadata?.annotations?.[managedKey()] !== 'true') return done;
    const used = node ? this.used.onNode(nodeName) : new Map<string, UsedVolume>();
    const attachments = this.attachments.lister.byIndex(byNode, nodeName);
    const nowMs = this.context.clock.monotonicMs();
    this.noteUnused(attachments, used, nowMs);
    const plan = planAttachments({
      ...{ node, used, attachments },
      otherNodes: (name) => this.otherNodes(name, nodeName),
      statusName: (name) => this.used.statusName(name),
      unusedMs: ({ metadata }) => nowMs - (this.unusedSinceMs.get(metadata?.uid ?? '') ?? nowMs),
      unmountWaitMsMax: limits.unmountWaitMsMax,
    });
    this.reportFailures(used, attachments);
    await this.perform(nodeName, node, plan);
    return plan.againAfterMs === undefined ? done : { requeueAfterMs: plan.againAfterMs };
  }

  private noteUnused(
    attachments: readonly VolumeAttachment[],
    used: ReadonlyMap<string, UsedVolume>,
    nowMs: number,
  ): void {
    for (const attachment of attachments) {
      const uid = attachment.metadata?.uid ?? '';
      if (used.has(volumeNameOf(attachment))) this.unusedSinceMs.delete(uid);
      else if (!this.unusedSinceMs.has(uid)) this.unusedSinceMs.set(uid, nowMs);
    }
  }

  private otherNodes(volumeName: string, nodeName: string): string[] {
    return this.attachments.lister
      .byIndex(byVolume, volumeName)
      .map(({ spec }) => spec.nodeName)
      .filter((other) => other !== nodeName);
  }

  /** The node learns that a volume is going before its driver does. */
  private async perform(
    nodeName: string,
    node: Node | undefined,
    plan: AttachmentPlan,
  ): Promise<void> {
    const { client } = this.context;
    const { volumesAttached } = plan;
    if (node && volumesAttached) {
      await replaceStatus(client.resource(resources.nodes), node, (current) => ({
        ...current,
        status: { ...current.status, volumesAttached },
      }));
    }
    for (const { volume, pods } of plan.nowAttached) {
      const message = `AttachVolume.Attach succeeded for volume "${volume.metadata?.name}" `;
      for (const pod of pods) {
        this.recorder.event(pod, 'Normal', 'SuccessfulAttachVolume', message);
      }
    }
    for (const { metadata } of plan.detach) {
      const deletion = client
        .resource(resources.volumeAttachments)
        .delete(metadata?.name ?? '', { preconditions: { uid: metadata?.uid } });
      await ignoring(deletion, isNotFound, isConflict);
    }
    for (const one of plan.attach) {
      const creation = client.resource(resources.volumeAttachments).create(wanted(one, nodeName));
      await ignoring(creation, isAlreadyExists);
    }
    for (const { volume, pods } of plan.blocked) {
      const message = `Multi-Attach error for volume "${volume.metadata?.name}" Volume is already exclusively attached to one node and can't be attached to another`;
      for (const pod of pods) this.recorder.event(pod, 'Warning', 'FailedAttachVolume', message);
    }
  }

  private reportFailures(
    used: ReadonlyMap<string, UsedVolume>,
    attachments: readonly VolumeAttachment[],
  ): void {
    for (const attachment of attachments) {
      const { attached, attachError } = attachment.status ?? {};
      if (attached || !attachError) continue;
      const name = volumeNameOf(attachment);
      const message = `AttachVolume.Attach failed for volume "${name}" : ${attachError.message ?? ''}`;
      for (const pod of used.get(name)?.pods ?? []) {
        this.recorder.event(pod, 'Warning', 'FailedAttachVolume', message);
      }
    }
  }
}

/** The name depends on volume, driver and node, so that there is one attachment for them. */
function wanted({ volume }: UsedVolume, nodeName: string): VolumeAttachment {
  const { driver = '', volumeHandle = '' } = volume.spec?.csi ?? {};
  const hash = createHash('sha256').update(`${volumeHandle}${driver}${nodeName}`).digest('hex');
  return {
    apiVersion: dialect().apiVersion('storage', 'v1'),
    kind: 'VolumeAttachment',
    metadata: { name: `csi-${hash}` },
    spec: {
      attacher: driver,
      nodeName,
      source: { persistentVolumeName: volume.metadata?.name ?? '' },
    },
  };
}
