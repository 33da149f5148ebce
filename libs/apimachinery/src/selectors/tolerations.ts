/** Matches tolerations against taints. */
import type { Taint, Toleration } from '@orch/types/core/v1';

export function tolerates(tolerations: readonly Toleration[], taint: Taint): boolean {
  return tolerations.some((toleration) => toleratesTaint(toleration, taint));
}

/** An empty effect or key of a toleration matches every effect or key. */
export function toleratesTaint(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  if (toleration.operator === 'Exists') return true;
  if (toleration.operator && toleration.operator !== 'Equal') return false;
  return (toleration.value ?? '') === (taint.value ?? '');
}

/** The first taint with one of `effects` that is not tolerated. */
export function firstUntoleratedTaint(
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
  effects: readonly string[],
): Taint | undefined {
  return taints.find((taint) => effects.includes(taint.effect) && !tolerates(tolerations, taint));
}
