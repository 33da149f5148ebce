/**
 * Which volumes of CSI drivers are to be attached to a node and detached from it, and the attached
 * volumes in its status. Pure.
 */
import type { AttachedVolume, Node, PersistentVolume, Pod } from '@orch/types/core/v1';
import type { VolumeAttachment } from '@orch/types/storage/v1';

/** A volume that pods of the node use. */
export interface UsedVolume {
  readonly volume: PersistentVolume;
  readonly pods: readonly Pod[];
}

export interface AttachmentState {
  /** Undefined if it does not exist. */
  readonly node: Node | undefined;
  /** By volume name; volumes that are attached, or are to be. */
  readonly used: ReadonlyMap<string, UsedVolume>;
  /** The attachments of this node. */
  readonly attachments: readonly VolumeAttachment[];
  /** Nodes other than this to which a volume is attached, by volume name. */
  readonly otherNodes: (volumeName: string) => readonly string[];
  /** The name of a volume in the status of the node; undefined if it is not known. */
  readonly statusName: (volumeName: string) => string | undefined;
  /** How long no pod has used the volume of the attachment. */
  readonly unusedMs: (attachment: VolumeAttachment) => number;
  readonly unmountWaitMsMax: number;
}

export interface AttachmentPlan {
  readonly attach: readonly UsedVolume[];
  readonly detach: readonly VolumeAttachment[];
  /** Volumes for one node only that are attached to another. */
  readonly blocked: readonly UsedVolume[];
  /** The new `status.volumesAttached`, if it changes. */
  readonly volumesAttached: AttachedVolume[] | undefined;
  /** Volumes that appear in the status now. */
  readonly nowAttached: readonly UsedVolume[];
  /** Time until the next forced detachment. */
  readonly againAfterMs: number | undefined;
}

export const volumeNameOf = ({ spec }: VolumeAttachment) => spec.source.persistentVolumeName ?? '';

export function planAttachments(state: AttachmentState): AttachmentPlan {
  const { used, attachments, otherNodes } = state;
  const present = new Set(attachments.map(volumeNameOf));
  const missing = [...used].filter(([name]) => !present.has(name));
  const isBlocked = ([name, { volume }]: readonly [string, UsedVolume]) =>
    isExclusive(volume) && otherNodes(name).length > 0;
  const unused = attachments.filter((one) => !used.has(volumeNameOf(one)) && !isEnding(one));
  const detach = unused.filter((one) => mayDetach(one, state));
  const waits = unused
    .filter((one) => !detach.includes(one))
    .map((one) => Math.max(0, state.unmountWaitMsMax - state.unusedMs(one)));
  return {
    attach: missing.filter((entry) => !isBlocked(entry)).map(([, one]) => one),
    blocked: missing.filter(isBlocked).map(([, one]) => one),
    detach,
    ...statusChange(state, detach),
    againAfterMs: waits.length > 0 ? Math.min(...waits) : undefined,
  };
}

const isEnding = ({ metadata }: VolumeAttachment) => metadata?.deletionTimestamp !== undefined;

/** Whether the volume may be attached to one node at a time. */
function isExclusive({ spec }: PersistentVolume): boolean {
  const modes = spec?.accessModes ?? [];
  return modes.length > 0 && modes.every((mode) => mode === 'ReadWriteOnce');
}

/** A node that still mounts the volume detaches it later, unless it takes too long. */
function mayDetach(attachment: VolumeAttachment, state: AttachmentState): boolean {
  if (state.unusedMs(attachment) >= state.unmountWaitMsMax) return true;
  if (!state.node) return false;
  const name = state.statusName(volumeNameOf(attachment));
  return name !== undefined && !(state.node.status?.volumesInUse ?? []).includes(name);
}

function statusChange(
  { node, used, attachments, statusName }: AttachmentState,
  detach: readonly VolumeAttachment[],
): Pick<AttachmentPlan, 'volumesAttached' | 'nowAttached'> {
  if (!node) return { volumesAttached: undefined, nowAttached: [] };
  const before = new Set((node.status?.volumesAttached ?? []).map(({ name }) => name));
  const attached = attachments
    .filter((one) => one.status?.attached && !isEnding(one) && !detach.includes(one))
    .map(volumeNameOf);
  const names = attached.flatMap((name) => statusName(name) ?? []).sort();
  const isSame = before.size === names.length && names.every((name) => before.has(name));
  const isNew = (name: string) => !before.has(statusName(name) ?? '');
  return {
    volumesAttached: isSame ? undefined : names.map((name) => ({ name, devicePath: '' })),
    nowAttached: attached.filter(isNew).flatMap((name) => used.get(name) ?? []),
  };
}
