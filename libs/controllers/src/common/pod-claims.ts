/** The claims of pods, including those of their ephemeral volumes. Pure. */
import { keyOf } from '@orch/client';
import type { Pod, Volume } from '@orch/types/core/v1';

/** Returns the name of the claim of a volume; undefined if it has none. */
export function claimNameOf({ metadata }: Pod, volume: Volume): string | undefined {
  if (volume.ephemeral) return `${metadata?.name}-${volume.name}`;
  return volume.persistentVolumeClaim?.claimName;
}

export function claimNames(pod: Pod): string[] {
  return (pod.spec?.volumes ?? []).flatMap((volume) => claimNameOf(pod, volume) ?? []);
}

export function claimKeys(pod: Pod): string[] {
  return claimNames(pod).map((name) => keyOf(pod.metadata?.namespace, name));
}
