/**
 * Evicts pods that do not tolerate the NoExecute taints of their node, immediately or when their
 * toleration expires.
 */
import {
  type EventRecorder,
  type Informer,
  isConflict,
  isNotFound,
  objectKey,
  resources,
} from '@orch/client';
import type { Node, Pod, Taint } from '@orch/types/core/v1';
import {
  type ControllerContext,
  type ControllerFactory,
  done,
  type ReconcileResult,
} from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { ignoring } from '../common/expected-errors.js';
import { indexByNode, podsOnNode } from '../common/pods-by-node.js';
import { never } from '../common/watches.js';
import { toleranceMs } from './tolerance.js';

interface PlannedEviction {
  readonly uid: string;
  /** When the pod was first seen on a tainted node. */
  readonly sinceMs: number;
}

const workerCount = 8;

export const taintEvictionController: ControllerFactory = (context, { nodes }) => {
  if (!nodes.enableTaintManager) return undefined;
  const reconciler = new TaintEvictionReconciler(context);
  return controller('noexec_taint_pod', context)
    .workers(workerCount)
    .for(resources.pods, {
      create: isAssigned,
      update: (pod, old) => isAssigned(pod) && isEvictionAffected(pod, old),
      delete: never,
    })
    .watches(resources.nodes, (node) => reconciler.podsOn(node), {
      update: (node, old) => noExecuteText(node) !== noExecuteText(old),
      delete: never,
    })
    .reconcile((key) => reconciler.reconcile(key));
};

class TaintEvictionReconciler {
  private readonly nodes: Informer<Node>;
  private readonly pods: Informer<Pod>;
  private readonly recorder: EventRecorder;
  private readonly planned = new Map<string, PlannedEviction>();

  constructor(private readonly context: ControllerContext) {
    this.nodes = context.informers.informer(resources.nodes);
    this.pods = context.informers.informer(resources.pods);
    this.recorder = context.recorder('taint-controller');
    indexByNode(this.pods);
    this.pods.addHandlers({ onDelete: (pod) => this.planned.delete(objectKey(pod)) });
  }

  podsOn(node: Node): string[] {
    return podsOnNode(this.pods, node.metadata?.name ?? '').map(objectKey);
  }

  async reconcile(key: string): Promise<ReconcileResult> {
    const pod = this.pods.lister.get(key);
    if (!pod || pod.metadata?.deletionTimestamp) return done;
    const taints = noExecuteTaints(this.nodes.lister.get(pod.spec?.nodeName ?? ''));
    const limitMs = taints.length > 0 ? toleranceMs(pod, taints) : undefined;
    if (limitMs === undefined) {
      if (this.planned.delete(key)) this.recordEviction(pod, `Cancelling deletion of Pod ${key}`);
      return done;
    }
    const nowMs = this.context.clock.monotonicMs();
    const uid = pod.metadata?.uid ?? '';
    const planned = this.planned.get(key);
    const sinceMs = planned?.uid === uid ? planned.sinceMs : nowMs;
    this.planned.set(key, { uid, sinceMs });
    const remainingMs = sinceMs + limitMs - nowMs;
    if (remainingMs > 0) return { requeueAfterMs: remainingMs };
    await this.evict(pod, key);
    this.planned.delete(key);
    return done;
  }

  private async evict(pod: Pod, key: string): Promise<void> {
    this.recordEviction(pod, `Marking for deletion Pod ${key}`);
    const { namespace, name = '', uid } = pod.metadata ?? {};
    const deletion = this.context.client
      .resource(resources.pods, namespace)
      .delete(name, { preconditions: { uid } });
    // Conflict: another pod has the name.
    await ignoring(deletion, isNotFound, isConflict);
  }

  private recordEviction(pod: Pod, message: string): void {
    const regarding = { ...pod, apiVersion: 'v1', kind: 'Pod' };
    this.recorder.event(regarding, 'Normal', 'TaintManagerEviction', message);
  }
}

function isAssigned({ spec }: Pod): boolean {
  return Boolean(spec?.nodeName);
}

function isEvictionAffected(pod: Pod, old: Pod): boolean {
  return (
    pod.spec?.nodeName !== old.spec?.nodeName ||
    JSON.stringify(pod.spec?.tolerations) !== JSON.stringify(old.spec?.tolerations)
  );
}

function noExecuteTaints(node: Node | undefined): Taint[] {
  return (node?.spec?.taints ?? []).filter((taint) => taint.effect === 'NoExecute');
}

function noExecuteText(node: Node): string {
  return JSON.stringify(noExecuteTaints(node));
}
