/** Pods that wait for the permission of Permit plugins between reservation and binding. */
import type { Clock, Timer } from '@orch/component';
import { permitWaitMsMax } from '../limits.js';

interface WaitingPod {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  readonly timer: Timer;
}

export class WaitingPods {
  private readonly pods = new Map<string, WaitingPod>();

  constructor(private readonly clock: Clock) {}

  get size(): number {
    return this.pods.size;
  }

  /** Resolves when the pod is allowed; rejects when it is rejected or the time is over. */
  wait(uid: string, waitMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const limitedMs = Math.min(waitMs, permitWaitMsMax);
      const timer = this.clock.setTimer(limitedMs, () => {
        this.reject(uid, `pod was not permitted within ${limitedMs} ms`);
      });
      this.pods.set(uid, { resolve, reject, timer });
    });
  }

  /** Allows the binding of a waiting pod. Returns false if the pod does not wait. */
  allow(uid: string): boolean {
    return this.end(uid, ({ resolve }) => resolve());
  }

  /** Ends the attempt of a waiting pod. Returns false if the pod does not wait. */
  reject(uid: string, reason: string): boolean {
    return this.end(uid, ({ reject }) => reject(new Error(reason)));
  }

  private end(uid: string, settle: (pod: WaitingPod) => void): boolean {
    const pod = this.pods.get(uid);
    if (!pod) return false;
    this.pods.delete(uid);
    pod.timer.cancel();
    settle(pod);
    return true;
  }
}
