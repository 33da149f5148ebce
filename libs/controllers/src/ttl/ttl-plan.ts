/**
 * How long node agents may cache secrets and config maps, by the size of the cluster: more nodes
 * send more requests. Pure. The ranges of sizes overlap, so that a cluster whose size varies around
 * a boundary does not change all its nodes again and again.
 */

interface Step {
  readonly nodeCountMin: number;
  readonly nodeCountMax: number;
  readonly ttlSeconds: number;
}

const steps: readonly Step[] = [
  { nodeCountMin: 0, nodeCountMax: 100, ttlSeconds: 0 },
  { nodeCountMin: 90, nodeCountMax: 500, ttlSeconds: 15 },
  { nodeCountMin: 450, nodeCountMax: 1_000, ttlSeconds: 30 },
  { nodeCountMin: 900, nodeCountMax: 2_000, ttlSeconds: 60 },
  { nodeCountMin: 1_800, nodeCountMax: Number.POSITIVE_INFINITY, ttlSeconds: 300 },
];

/** Returns the step for this number of nodes: `step` itself while the number is in its range. */
export function nextStep(step: number, nodeCount: number): number {
  let next = step;
  while (nodeCount > steps[next]!.nodeCountMax) next += 1;
  while (nodeCount < steps[next]!.nodeCountMin) next -= 1;
  return next;
}

export function ttlSecondsOf(step: number): number {
  return steps[step]!.ttlSeconds;
}
