/** Completion indexes of the pods of an indexed job. Pure. */
import { dialect } from '@orch/component';
import type { Job } from '@orch/types/batch/v1';
import type { Pod } from '@orch/types/core/v1';
import { isPodActive } from '../common/pods.js';

/** Runs of indexes from this length on are written as a range. */
const rangeLengthMin = 3;

export function indexAnnotation(): string {
  return dialect().key('job-completion-index', 'batch');
}

export function isIndexed({ spec }: Job): boolean {
  return spec?.completionMode === 'Indexed';
}

/** The index of a pod; undefined if it has none below `completions`. */
export function indexOf(pod: Pod, completions: number): number | undefined {
  const text = pod.metadata?.annotations?.[indexAnnotation()];
  if (text === undefined || !/^\d+$/.test(text)) return undefined;
  const index = Number(text);
  return index < completions ? index : undefined;
}

/** The indexes that succeeded: those of the status and those of succeeded pods. */
export function succeededIndexes({ spec, status }: Job, pods: readonly Pod[]): Set<number> {
  const completions = spec?.completions ?? 0;
  const indexes = parseIndexes(status?.completedIndexes ?? '', completions);
  for (const pod of pods) {
    const index = pod.status?.phase === 'Succeeded' ? indexOf(pod, completions) : undefined;
    if (index !== undefined) indexes.add(index);
  }
  return indexes;
}

/** The first `count` indexes that have neither succeeded nor an active pod. */
export function pendingIndexes(
  pods: readonly Pod[],
  succeeded: ReadonlySet<number>,
  count: number,
  completions: number,
): number[] {
  const taken = new Set(succeeded);
  for (const pod of pods.filter(isPodActive)) {
    const index = indexOf(pod, completions);
    if (index !== undefined) taken.add(index);
  }
  const pending: number[] = [];
  for (let index = 0; index < completions && pending.length < count; index++) {
    if (!taken.has(index)) pending.push(index);
  }
  return pending;
}

/**
 * Splits active pods into those to delete, because they have no valid index or an index that
 * succeeded or that an earlier pod of `activePods` has, and the others.
 */
export function partitionByIndex(
  activePods: readonly Pod[],
  succeeded: ReadonlySet<number>,
  completions: number,
): { readonly surplus: Pod[]; readonly unique: Pod[] } {
  const surplus: Pod[] = [];
  const unique: Pod[] = [];
  const taken = new Set(succeeded);
  for (const pod of activePods) {
    const index = indexOf(pod, completions);
    if (index === undefined || taken.has(index)) surplus.push(pod);
    else {
      taken.add(index);
      unique.push(pod);
    }
  }
  return { surplus, unique };
}

/** The form of the status: `1,3-5,7`. */
export function formatIndexes(indexes: ReadonlySet<number>): string {
  const sorted = [...indexes].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let start = 0; start < sorted.length; ) {
    let end = start;
    while (end + 1 < sorted.length && sorted[end + 1] === (sorted[end] ?? 0) + 1) end++;
    const run = sorted.slice(start, end + 1);
    if (run.length >= rangeLengthMin) parts.push(`${run[0]}-${run.at(-1)}`);
    else parts.push(...run.map(String));
    start = end + 1;
  }
  return parts.join(',');
}

/** The inverse of `formatIndexes`. Ignores unreadable parts and indexes from `completions` on. */
export function parseIndexes(text: string, completions: number): Set<number> {
  const indexes = new Set<number>();
  for (const part of text.split(',')) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part.trim());
    if (!match) continue;
    const first = Number(match[1]);
    const last = Math.min(Number(match[2] ?? first), completions - 1);
    for (let index = first; index <= last; index++) indexes.add(index);
  }
  return indexes;
}
