/** Figures out of many measurements. */
import type { Notes } from '../load/notes.js';

/** The smallest number that at least this share of them does not exceed. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((left, right) => left - right);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** The longest time without an acknowledged write that touches `[since, since + windowMs]`. */
export function worstGapMs({ writes }: Notes, since: number, windowMs: number): number {
  const ends: number[] = [];
  for (const { outcome, endedAt } of writes) {
    if (outcome.kind === 'applied' && endedAt !== undefined) ends.push(endedAt);
  }
  ends.sort((left, right) => left - right);
  let worst = 0;
  for (let at = 1; at < ends.length; at += 1) {
    const from = ends[at - 1]!;
    const to = ends[at]!;
    if (to < since || from > since + windowMs) continue;
    worst = Math.max(worst, to - from);
  }
  return worst;
}
