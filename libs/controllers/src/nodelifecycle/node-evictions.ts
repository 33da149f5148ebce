/**
 * How the pods of a lost node are evicted. With the taint manager the node gets a NoExecute taint,
 * and the tolerations of each pod decide; without it, all pods are deleted after a timeout. Both
 * wait for the eviction rate of the zone.
 */
import { controllerOf } from '@orch/apimachinery';
import {
  ApiError,
  type EventRecorder,
  type Informer,
  isConflict,
  isNotFound,
  resources,
} from '@orch/client';
import type { Node, Pod } from '@orch/types/core/v1';
import type { ControllerContext } from '../common/controller.js';
import { ignoring } from '../common/expected-errors.js';
import { podsOnNode } from '../common/pods-by-node.js';
import type { NodeHealth } from './heartbeats.js';
import type { Readiness } from './node-conditions.js';
import { hasNoExecuteTaint, noExecuteKey, withNoExecuteTaint } from './node-taints.js';
import type { NodeWriter } from './node-writer.js';

export interface NodeEvictions {
  /** Whether the node waits for its eviction. `readiness` is that of the previous period. */
  isDue(node: Node, readiness: Readiness, health: NodeHealth): boolean;
  /** Called in each period for nodes that are not due. */
  continue(node: Node, readiness: Readiness): Promise<void>;
  /** Evicts a node. @returns false if it has to be repeated. */
  evict(node: Node): Promise<boolean>;
  /** Cancels the eviction of a node while no node of the cluster is ready. */
  cancel(node: Node): Promise<void>;
  forget(nodeName: string): void;
}

export class TaintEvictions implements NodeEvictions {
  constructor(
    private readonly context: ControllerContext,
    private readonly writer: NodeWriter,
  ) {}

  isDue(node: Node, readiness: Readiness): boolean {
    return (readiness === 'False' || readiness === 'Unknown') && !hasNoExecuteTaint(node);
  }

  async continue(): Promise<void> {
    // Changes of the taint are not rate-limited: the controller writes them when the node changes.
  }

  async evict(node: Node): Promise<boolean> {
    const wanted = noExecuteKey(node);
    const taints = wanted && withNoExecuteTaint(node, wanted, this.context.clock.nowMs());
    return !taints || (await this.writer.patch(node, { taints }));
  }

  async cancel(node: Node): Promise<void> {
    const taints = withNoExecuteTaint(node, undefined, this.context.clock.nowMs());
    if (taints) await this.writer.patch(node, { taints });
  }

  forget(): void {
    // The taints are all that is stored.
  }
}

export class PodEvictions implements NodeEvictions {
  private readonly recorder: EventRecorder;
  /** Names of nodes whose pods were deleted; pods that arrive later are deleted immediately. */
  private readonly evicted = new Set<string>();

  constructor(
    private readonly context: ControllerContext,
    private readonly writer: NodeWriter,
    private readonly pods: Informer<Pod>,
    private readonly timeoutMs: number,
  ) {
    this.recorder = context.recorder('node-controller');
  }

  isDue(node: Node, readiness: Readiness, { silentMs, steadyMs }: NodeHealth): boolean {
    if (this.evicted.has(nameOf(node))) return false;
    if (readiness === 'False') return steadyMs > this.timeoutMs;
    return readiness === 'Unknown' && silentMs > this.timeoutMs;
  }

  async continue(node: Node, readiness: Readiness): Promise<void> {
    const name = nameOf(node);
    if (readiness === 'True' || readiness === 'None') this.evicted.delete(name);
    else if (this.evicted.has(name)) await this.deletePods(node);
  }

  async evict(node: Node): Promise<boolean> {
    if (!(await this.deletePods(node))) return false;
    this.evicted.add(nameOf(node));
    return true;
  }

  async cancel(node: Node): Promise<void> {
    this.evicted.delete(nameOf(node));
  }

  forget(nodeName: string): void {
    this.evicted.delete(nodeName);
  }

  /** Deletes the pods of the node, except daemon pods. @returns false if one was not deleted. */
  private async deletePods(node: Node): Promise<boolean> {
    const pods = podsOnNode(this.pods, nameOf(node)).filter(isEvictable);
    if (pods.length === 0) return true;
    this.writer.event(
      node,
      'DeletingAllPods',
      `event: Deleting all Pods from Node ${nameOf(node)}.`,
    );
    let isComplete = true;
    for (const pod of pods) {
      try {
        await this.deletePod(pod, nameOf(node));
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        const { name, namespace } = pod.metadata ?? {};
        this.context.logger.warn({ err: error, namespace, pod: name }, 'pod was not evicted');
        isComplete = false;
      }
    }
    return isComplete;
  }

  private async deletePod(pod: Pod, nodeName: string): Promise<void> {
    const { namespace, name = '', uid } = pod.metadata ?? {};
    const client = this.context.client.resource(resources.pods, namespace);
    if (pod.status?.reason !== 'NodeLost') {
      const message = `Node ${nodeName} which was running pod ${name} is unresponsive`;
      const status = { ...pod.status, reason: 'NodeLost', message };
      // Conflict: the next period reads the newer pod.
      await ignoring(client.replaceStatus({ ...pod, status }), isNotFound);
    }
    const regarding = { ...pod, apiVersion: 'v1', kind: 'Pod' };
    const text = `Marking for deletion Pod ${name} from Node ${nodeName}`;
    this.recorder.event(regarding, 'Normal', 'NodeControllerEviction', text);
    // Conflict: another pod has the name.
    await ignoring(client.delete(name, { preconditions: { uid } }), isNotFound, isConflict);
  }
}

function isEvictable(pod: Pod): boolean {
  return !pod.metadata?.deletionTimestamp && controllerOf(pod)?.kind !== 'DaemonSet';
}

function nameOf(node: Node): string {
  return node.metadata?.name ?? '';
}
