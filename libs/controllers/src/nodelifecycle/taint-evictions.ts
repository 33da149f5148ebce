/**
 * Deletes pods that do not tolerate the NoExecute taints of their node, at once or when the time they
 * tolerate them for is over. Level-based: a pod's key in, what is due out.
 */
import {
  type EventRecorder,
  type Informer,
  isConflict,
  isNotFound,
  objectKey,
  resources,
  type WorkQueue,
} from '@orch/client';
import type { Node, Pod, Taint } from '@orch/types/core/v1';
import {
  type Controller,
  type ControllerContext,
  queueFor,
  workOff,
} from '../manager/controller.js';
import { indexByNode, podsOnNode } from './pods-by-node.js';
import { toleranceMs } from './tolerance.js';

interface Planned {
  readonly uid: string;
  /** Since when the pod has been seen on a tainted node. */
  readonly sinceMs: number;
}

const workerCount = 8;

export class TaintEvictions implements Controller {
  private readonly nodes: Informer<Node>;
  private readonly pods: Informer<Pod>;
  private readonly queue: WorkQueue;
  private readonly recorder: EventRecorder;
  private readonly planned = new Map<string, Planned>();

  constructor(private readonly context: ControllerContext) {
    this.nodes = context.informers.informer(resources.nodes);
    this.pods = context.informers.informer(resources.pods);
    indexByNode(this.pods);
    this.queue = queueFor(context, 'noexec_taint_pod');
    this.recorder = context.recorder('taint-controller');
    this.nodes.addHandlers({
      onAdd: (node) => this.nodeChanged(node),
      onUpdate: (node, old) => {
        if (noExecuteText(node) !== noExecuteText(old)) this.nodeChanged(node);
      },
    });
    this.pods.addHandlers({
      onAdd: (pod) => this.podChanged(pod),
      onUpdate: (pod, old) => {
        const isMoved = pod.spec?.nodeName !== old.spec?.nodeName;
        const isRetolerated =
          JSON.stringify(pod.spec?.tolerations) !== JSON.stringify(old.spec?.tolerations);
        if (isMoved || isRetolerated) this.podChanged(pod);
      },
      onDelete: (pod) => this.planned.delete(objectKey(pod)),
    });
  }

  run(signal: AbortSignal): Promise<void> {
    return workOff(this.queue, workerCount, signal, (key) => this.reconcile(key));
  }

  private nodeChanged(node: Node): void {
    for (const pod of podsOnNode(this.pods, node.metadata?.name ?? ''))
      this.queue.add(objectKey(pod));
  }

  private podChanged(pod: Pod): void {
    if (pod.spec?.nodeName) this.queue.add(objectKey(pod));
  }

  private async reconcile(key: string): Promise<number | undefined> {
    const pod = this.pods.lister.get(key);
    if (!pod || pod.metadata?.deletionTimestamp) return undefined;
    const node = this.nodes.lister.get(pod.spec?.nodeName ?? '');
    const taints = noExecuteTaints(node);
    const limitMs = taints.length > 0 ? toleranceMs(pod, taints) : undefined;
    if (limitMs === undefined) {
      if (this.planned.delete(key)) this.tell(pod, `Cancelling deletion of Pod ${key}`);
      return undefined;
    }
    const nowMs = this.context.clock.monotonicMs();
    const uid = pod.metadata?.uid ?? '';
    const planned = this.planned.get(key);
    const sinceMs = planned?.uid === uid ? planned.sinceMs : nowMs;
    this.planned.set(key, { uid, sinceMs });
    const leftMs = sinceMs + limitMs - nowMs;
    if (leftMs > 0) return leftMs;
    await this.evict(pod, key);
    this.planned.delete(key);
    return undefined;
  }

  private async evict(pod: Pod, key: string): Promise<void> {
    this.tell(pod, `Marking for deletion Pod ${key}`);
    const { namespace, name = '', uid } = pod.metadata ?? {};
    try {
      await this.context.client
        .resource(resources.pods, namespace)
        .delete(name, { preconditions: { uid } });
    } catch (error) {
      // Gone, or another pod by now: nothing is left to do for this one.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  private tell(pod: Pod, message: string): void {
    const reference = { ...pod, apiVersion: 'v1', kind: 'Pod' };
    this.recorder.event(reference, 'Normal', 'TaintManagerEviction', message);
  }
}

function noExecuteTaints(node: Node | undefined): Taint[] {
  return (node?.spec?.taints ?? []).filter((taint) => taint.effect === 'NoExecute');
}

function noExecuteText(node: Node): string {
  return JSON.stringify(noExecuteTaints(node));
}
