/**
 * Limits a recommended number of replicas: stabilization over recent recommendations, the policies
 * of the behavior and the bounds of the autoscaler. Pure. Invariants: the result is within the
 * bounds, and never further from the current replicas than the policies permit.
 */
import type { HPAScalingRules } from '@orch/types/autoscaling/v2beta2';

export interface Recommendation {
  readonly replicas: number;
  readonly atMs: number;
}

export interface ScaleChange {
  /** Replicas added or removed; positive. */
  readonly count: number;
  readonly atMs: number;
}

export interface ScalingInput {
  readonly currentReplicas: number;
  /** What the metrics call for. */
  readonly desiredReplicas: number;
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly recommendations: readonly Recommendation[];
  readonly nowMs: number;
}

export interface BehaviorInput extends ScalingInput {
  readonly scaleUp: HPAScalingRules;
  readonly scaleDown: HPAScalingRules;
  readonly scaleUps: readonly ScaleChange[];
  readonly scaleDowns: readonly ScaleChange[];
}

export interface LimitReason {
  readonly reason: string;
  readonly message: string;
}

export interface Limited {
  readonly replicas: number;
  readonly stabilized: LimitReason;
  readonly limited: LimitReason & { readonly isLimited: boolean };
}

const readyForNewScale = {
  reason: 'ReadyForNewScale',
  message: 'recommended size matches current size',
};
const downStabilized = {
  reason: 'ScaleDownStabilized',
  message:
    'recent recommendations were higher than current one, applying the highest recent recommendation',
};
const upStabilized = {
  reason: 'ScaleUpStabilized',
  message:
    'recent recommendations were lower than current one, applying the lowest recent recommendation',
};
const withinRange = {
  reason: 'DesiredWithinRange',
  message: 'the desired count is within the acceptable range',
};
const tooFew = {
  reason: 'TooFewReplicas',
  message: 'the desired replica count is less than the minimum replica count',
};
const tooMany = {
  reason: 'TooManyReplicas',
  message: 'the desired replica count is more than the maximum replica count',
};
const upLimit = {
  reason: 'ScaleUpLimit',
  message: 'the desired replica count is increasing faster than the maximum scale rate',
};
const downLimit = {
  reason: 'ScaleDownLimit',
  message: 'the desired replica count is decreasing faster than the maximum scale rate',
};

/** Without a behavior: at most doubles, or four; scales down to the highest of the window. */
export function limitByDefault(input: ScalingInput, windowMs: number): Limited {
  const { currentReplicas, desiredReplicas, minReplicas, maxReplicas, nowMs } = input;
  const recent = input.recommendations.filter(({ atMs }) => atMs >= nowMs - windowMs);
  const stable = Math.max(desiredReplicas, ...recent.map(({ replicas }) => replicas));
  const rateLimit = Math.max(2 * currentReplicas, 4);
  const highest = Math.min(maxReplicas, rateLimit);
  const stabilized = stable === desiredReplicas ? readyForNewScale : downStabilized;
  if (stable < minReplicas) return limitedTo(minReplicas, stabilized, tooFew);
  if (stable <= highest) return unlimited(stable, stabilized);
  return limitedTo(highest, stabilized, maxReplicas > rateLimit ? upLimit : tooMany);
}

/** With the rules of a behavior; their windows and select policies are set. */
export function limitByBehavior(input: BehaviorInput): Limited {
  const { currentReplicas, desiredReplicas, minReplicas, maxReplicas } = input;
  const stable = stabilize(input);
  const direction = desiredReplicas >= currentReplicas ? upStabilized : downStabilized;
  const stabilized = stable === desiredReplicas ? readyForNewScale : direction;
  if (stable > currentReplicas) {
    const rateLimit = Math.max(currentReplicas, scaleUpLimit(input));
    const highest = Math.min(maxReplicas, rateLimit);
    if (stable <= highest) return unlimited(stable, stabilized);
    return limitedTo(highest, stabilized, maxReplicas > rateLimit ? upLimit : tooMany);
  }
  if (stable < currentReplicas) {
    const rateLimit = Math.min(currentReplicas, scaleDownLimit(input));
    const lowest = Math.max(minReplicas, rateLimit);
    if (stable >= lowest) return unlimited(stable, stabilized);
    return limitedTo(lowest, stabilized, minReplicas < rateLimit ? downLimit : tooFew);
  }
  return unlimited(stable, stabilized);
}

/** Within the lowest recommendation of the window up and the highest of the window down. */
function stabilize({
  currentReplicas,
  desiredReplicas,
  recommendations,
  scaleUp,
  scaleDown,
  nowMs,
}: BehaviorInput): number {
  const within = (rules: HPAScalingRules) => {
    const sinceMs = nowMs - (rules.stabilizationWindowSeconds ?? 0) * 1000;
    return recommendations.filter(({ atMs }) => atMs > sinceMs).map(({ replicas }) => replicas);
  };
  const lowest = Math.min(desiredReplicas, ...within(scaleUp));
  const highest = Math.max(desiredReplicas, ...within(scaleDown));
  return Math.min(Math.max(currentReplicas, lowest), highest);
}

function scaleUpLimit({ currentReplicas, scaleUp, scaleUps, nowMs }: BehaviorInput): number {
  if (scaleUp.selectPolicy === 'Disabled') return currentReplicas;
  const proposals = (scaleUp.policies ?? []).map(({ type, value, periodSeconds }) => {
    const start = currentReplicas - changedSince(scaleUps, nowMs - periodSeconds * 1000);
    return type === 'Pods' ? start + value : Math.ceil((start * (100 + value)) / 100);
  });
  if (proposals.length === 0) return currentReplicas;
  return scaleUp.selectPolicy === 'Min' ? Math.min(...proposals) : Math.max(...proposals);
}

function scaleDownLimit({ currentReplicas, scaleDown, scaleDowns, nowMs }: BehaviorInput): number {
  if (scaleDown.selectPolicy === 'Disabled') return currentReplicas;
  const proposals = (scaleDown.policies ?? []).map(({ type, value, periodSeconds }) => {
    const start = currentReplicas + changedSince(scaleDowns, nowMs - periodSeconds * 1000);
    return type === 'Pods' ? start - value : Math.trunc((start * (100 - value)) / 100);
  });
  if (proposals.length === 0) return currentReplicas;
  // The smallest change leaves the most replicas.
  return scaleDown.selectPolicy === 'Min' ? Math.max(...proposals) : Math.min(...proposals);
}

function changedSince(changes: readonly ScaleChange[], sinceMs: number): number {
  const recent = changes.filter(({ atMs }) => atMs > sinceMs);
  return recent.reduce((sum, { count }) => sum + count, 0);
}

function unlimited(replicas: number, stabilized: LimitReason): Limited {
  return { replicas, stabilized, limited: { ...withinRange, isLimited: false } };
}

function limitedTo(replicas: number, stabilized: LimitReason, reason: LimitReason): Limited {
  return { replicas, stabilized, limited: { ...reason, isLimited: true } };
}
