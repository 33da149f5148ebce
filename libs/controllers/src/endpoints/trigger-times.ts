/**
 * The time of the change that leads to a write of endpoints, so that clients can measure the delay
 * of its propagation. Remembers the times that earlier writes have covered, by service.
 */
import { parseTime } from '@orch/apimachinery';
import type { Pod, Service } from '@orch/types/core/v1';
import { createdMs } from '../common/created.js';
import { readyCondition } from '../common/pods.js';

interface CoveredTimes {
  readonly serviceMs: number;
  /** When the readiness of each pod changed last, by name. */
  readonly podMs: ReadonlyMap<string, number>;
}

export interface TriggerTime {
  /** Milliseconds since the epoch; undefined if nothing changed since `cover`. */
  readonly atMs: number | undefined;
  readonly covered: CoveredTimes;
}

export class TriggerTimes {
  private readonly covered = new Map<string, CoveredTimes>();

  /**
   * Returns the earliest change that `cover` was not called for: the readiness of a pod, or the
   * creation of the service. The first time of a service is that of its creation.
   */
  next(key: string, service: Service, pods: readonly Pod[]): TriggerTime {
    const before = this.covered.get(key);
    const serviceMs = createdMs(service);
    const podMs = new Map<string, number>();
    for (const pod of pods) {
      const ms = parseTime(readyCondition(pod)?.lastTransitionTime);
      if (ms !== undefined) podMs.set(pod.metadata?.name ?? '', ms);
    }
    const covered = { serviceMs, podMs };
    if (!before) return { atMs: serviceMs || undefined, covered };
    const changed = [...podMs]
      .filter(([name, ms]) => ms > (before.podMs.get(name) ?? 0))
      .map(([, ms]) => ms);
    if (serviceMs > before.serviceMs) changed.push(serviceMs);
    const earliestMs = changed.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
    return { atMs: Number.isFinite(earliestMs) ? earliestMs : undefined, covered };
  }

  /** Call it when the reconciliation has succeeded: a retry has the same time. */
  cover(key: string, { covered }: TriggerTime): void {
    this.covered.set(key, covered);
  }

  forget(key: string): void {
    this.covered.delete(key);
  }
}
