/**
 * Counts the outcomes of the probes of each container, until the pod is removed. A restarted
 * container continues the counts of the previous one.
 */
import type { PodIdentity } from '../runtimes/container-runtime.js';
import type { ProbeKind, ProbeOutcome } from './probe-counter.js';

export interface ProbeCount {
  readonly pod: PodIdentity;
  readonly container: string;
  readonly kind: ProbeKind;
  readonly outcome: ProbeOutcome;
  count: number;
}

export class ProbeCounts {
  private readonly byPod = new Map<string, Map<string, ProbeCount>>();

  add(pod: PodIdentity, container: string, kind: ProbeKind, outcome: ProbeOutcome): void {
    let counts = this.byPod.get(pod.uid);
    if (!counts) {
      counts = new Map();
      this.byPod.set(pod.uid, counts);
    }
    const key = `${container} ${kind} ${outcome}`;
    const known = counts.get(key);
    if (known) known.count += 1;
    else counts.set(key, { pod, container, kind, outcome, count: 1 });
  }

  /** Drops the counts of a removed pod. */
  forget(podUid: string): void {
    this.byPod.delete(podUid);
  }

  list(): ProbeCount[] {
    return [...this.byPod.values()].flatMap((counts) => [...counts.values()]);
  }
}
