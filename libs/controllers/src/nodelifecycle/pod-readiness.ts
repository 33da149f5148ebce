/**
 * Marks the pods of unreachable nodes as not ready, because the agent of the node cannot: once for
 * each pod when the node is lost, and when a ready pod appears on a lost node.
 */
import { formatTime } from '@orch/apimachinery';
import {
  ApiError,
  type EventRecorder,
  type Informer,
  isNotFound,
  objectKey,
  resources,
} from '@orch/client';
import type { Pod } from '@orch/types/core/v1';
import type { ControllerContext } from '../common/controller.js';
import { ignoring } from '../common/expected-errors.js';
import { isPodReady } from '../common/pods.js';
import { podsOnNode } from '../common/pods-by-node.js';

export class PodReadiness {
  private readonly recorder: EventRecorder;
  /** Names of lost nodes with pods that are not marked yet. */
  private readonly unmarked = new Set<string>();

  constructor(
    private readonly context: ControllerContext,
    private readonly pods: Informer<Pod>,
  ) {
    this.recorder = context.recorder('node-controller');
  }

  /** Marks the pods of the node in this period, and again in later ones if that fails. */
  nodeLost(nodeName: string): void {
    this.unmarked.add(nodeName);
  }

  forget(nodeName: string): void {
    this.unmarked.delete(nodeName);
  }

  /** Marks the pods of all lost nodes. */
  async markAll(): Promise<void> {
    for (const name of this.unmarked) {
      try {
        for (const pod of podsOnNode(this.pods, name)) await this.markNotReady(pod);
        this.unmarked.delete(name);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        this.context.logger.info({ err: error, node: name }, 'pods were not marked as not ready');
      }
    }
  }

  async markNotReady(pod: Pod): Promise<void> {
    if (!isPodReady(pod)) return;
    const lastTransitionTime = formatTime(this.context.clock.nowMs());
    const conditions = (pod.status?.conditions ?? []).map((condition) =>
      condition.type === 'Ready'
        ? { ...condition, status: 'False', lastTransitionTime }
        : condition,
    );
    const written = this.context.client
      .resource(resources.pods, pod.metadata?.namespace)
      .replaceStatus({ ...pod, status: { ...pod.status, conditions } });
    if (!(await ignoring(written, isNotFound))) return;
    this.context.logger.debug({ pod: objectKey(pod) }, 'pod marked as not ready');
    const regarding = { ...pod, apiVersion: 'v1', kind: 'Pod' };
    this.recorder.event(regarding, 'Warning', 'NodeNotReady', 'Node is not ready');
  }
}
