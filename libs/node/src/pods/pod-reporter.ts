/** Computes the status of one pod and hands it to the status manager. */
import type { Pod } from '@orch/types/core/v1';
import { terminationMessage } from '../logs/termination-message.js';
import type { PodContext } from './pod-context.js';
import type { FailureReason } from './pod-failure.js';
import type { PodLauncher } from './pod-launcher.js';
import { podStatus } from './pod-status.js';
import {
  annotationKeys,
  hasEnded,
  initContainersOf,
  mainContainersOf,
  type PodView,
  podIpOf,
} from './pod-view.js';

export class PodReporter {
  constructor(
    private readonly context: PodContext,
    private readonly launcher: PodLauncher,
  ) {}

  /**
   * Reports the status of `view`, unless the API no longer has the pod (`current` is undefined).
   */
  report(current: Pod | undefined, view: PodView, failure?: FailureReason): void {
    const { context, launcher } = this;
    // The API's status of an ended pod is preserved if the runtime has lost its containers.
    if (!current || (view.runs.size === 0 && hasEnded(view.pod))) return;
    const podIp = podIpOf(view, context.hostIp);
    const containerCount = initContainersOf(view.pod).length + mainContainersOf(view.pod).length;
    const status = podStatus(view, {
      runtimeName: context.runtimeName,
      nowMs: context.clock.nowMs(),
      hostIp: context.hostIp,
      ...(podIp ? { podIp } : {}),
      ...(failure ? { failure } : {}),
      probe: (id, kind) => context.prober.result(id, kind),
      waiting: (name) => launcher.waitingState(name),
      isStarting: (id) => launcher.isStarting(id),
      terminationMessage: (run) => {
        const messagePath = run.annotations[annotationKeys.messagePath];
        return terminationMessage({
          ...(messagePath === undefined ? {} : { messagePath }),
          logPath: run.logPath,
          policy: run.annotations[annotationKeys.messagePolicy] ?? 'File',
          exitCode: run.exitCode ?? 0,
          containerCount,
        });
      },
    });
    context.statuses.set(view.pod, status);
  }
}
