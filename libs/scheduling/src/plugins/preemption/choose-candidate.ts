/** Chooses the node on which evictions do the least harm. */
import type { Candidate } from '../../framework/plugin.js';
import type { PodInfo } from '../../model/pod-info.js';
import { startOf } from './victims.js';

/** Makes each victim count more than its priority, which may be negative. */
const priorityOffset = 2 ** 31;

type Measure = (candidate: Candidate) => number;

/** Each measure decides among the candidates that are equal in those before it; less is better. */
const measures: readonly Measure[] = [
  ({ violationCount }) => violationCount,
  ({ victims }) => victims[0]!.priority,
  ({ victims }) => victims.reduce((sum, victim) => sum + victim.priority + priorityOffset, 0),
  ({ victims }) => victims.length,
  ({ victims }) => -earliestStart(victims),
];

/** Returns undefined without candidates. */
export function chooseCandidate(candidates: readonly Candidate[]): Candidate | undefined {
  let best = candidates;
  for (const measure of measures) {
    if (best.length <= 1) break;
    const values = best.map(measure);
    const least = values.reduce((low, value) => Math.min(low, value));
    best = best.filter((_, index) => values[index] === least);
  }
  return best[0];
}

/** Returns the earliest start among the victims of the highest priority. */
function earliestStart(victims: readonly PodInfo[]): number {
  const priority = victims.reduce((high, victim) => Math.max(high, victim.priority), -Infinity);
  return victims
    .filter((victim) => victim.priority === priority)
    .reduce((earliest, victim) => Math.min(earliest, startOf(victim)), Infinity);
}
