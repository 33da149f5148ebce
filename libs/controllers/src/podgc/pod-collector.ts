/**
 * Deletes pods that nothing else deletes: pods on nodes that no longer exist, deleted pods that
 * were never scheduled, and the oldest finished pods above a threshold.
 */
import { type Informer, isConflict, isNotFound, objectKey, resources } from '@orch/client';
import type { Node, Pod } from '@orch/types/core/v1';
import { forEachBounded } from '../common/batches.js';
import type { ControllerContext, ControllerFactory } from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { ignoring } from '../common/expected-errors.js';
import { limits } from '../limits.js';
import { excessTerminated, missingNodes, unscheduledTerminating } from './pods-to-collect.js';

const periodMs = 20_000;
/** How long a node must be missing from the cache before its pods are deleted. */
const quarantineMs = 40_000;

export const podCollector: ControllerFactory = (context, { terminatedPodThreshold }) => {
  const collector = new PodCollector(context, terminatedPodThreshold);
  return controller('podgc', context)
    .every(periodMs, () => collector.collect())
    .build();
};

class PodCollector {
  private readonly pods: Informer<Pod>;
  private readonly nodes: Informer<Node>;
  private readonly missingSinceMs = new Map<string, number>();

  constructor(
    private readonly context: ControllerContext,
    private readonly terminatedThreshold: number,
  ) {
    this.pods = context.informers.informer(resources.pods);
    this.nodes = context.informers.informer(resources.nodes);
  }

  async collect(): Promise<void> {
    const pods = this.pods.lister.list();
    await this.deleteAll(excessTerminated(pods, this.terminatedThreshold));
    const deletedNodes = await this.deletedNodes(pods);
    await this.deleteAll(pods.filter(({ spec }) => deletedNodes.has(spec?.nodeName ?? '')));
    await this.deleteAll(unscheduledTerminating(pods));
  }

  /** Deletes the pods. A failure does not affect the others; the next period retries. */
  private async deleteAll(pods: readonly Pod[]): Promise<void> {
    const { logger } = this.context;
    const concurrency = limits.podCollectionConcurrencyMax;
    const errors = await forEachBounded(pods, concurrency, (pod) => this.delete(pod));
    if (errors.length === 0) return;
    logger.warn({ err: errors[0], failures: errors.length }, 'pods were not deleted');
  }

  /**
   * Names of nodes that have been missing throughout the quarantine and that the server does not
   * have.
   */
  private async deletedNodes(pods: readonly Pod[]): Promise<Set<string>> {
    const nowMs = this.context.clock.monotonicMs();
    const missing = missingNodes(pods, new Set(this.nodes.lister.keys()));
    for (const name of [...this.missingSinceMs.keys()]) {
      if (!missing.has(name)) this.missingSinceMs.delete(name);
    }
    const deleted = new Set<string>();
    for (const name of missing) {
      const sinceMs = this.missingSinceMs.get(name) ?? nowMs;
      this.missingSinceMs.set(name, sinceMs);
      if (nowMs - sinceMs >= quarantineMs && !(await this.nodeExists(name))) deleted.add(name);
    }
    return deleted;
  }

  private async nodeExists(name: string): Promise<boolean> {
    const request = this.context.client.resource(resources.nodes).get(name);
    return (await ignoring(request, isNotFound)) !== undefined;
  }

  private async delete(pod: Pod): Promise<void> {
    const { namespace, name = '', uid } = pod.metadata ?? {};
    this.context.logger.info({ pod: objectKey(pod) }, 'deleting pod');
    const deletion = this.context.client
      .resource(resources.pods, namespace)
      .delete(name, { gracePeriodSeconds: 0, preconditions: { uid } });
    // Conflict: another pod has the name.
    await ignoring(deletion, isNotFound, isConflict);
  }
}
