/**
 * Takes pods away that nobody else will: on nodes that are no more (after a while in quarantine, and
 * after asking the server), never scheduled ones that are being deleted, and finished ones in excess.
 */
import { type Informer, isConflict, isNotFound, resources } from '@orch/client';
import type { Node, Pod } from '@orch/types/core/v1';
import { every } from '../common/every.js';
import type { Controller, ControllerContext } from '../manager/controller.js';
import { excessTerminated, missingNodes, unscheduledTerminating } from './pods-to-collect.js';

const periodMs = 20_000;
/** A node may be away for this long before it is believed to be gone. */
const quarantineMs = 40_000;

export class PodCollector implements Controller {
  private readonly pods: Informer<Pod>;
  private readonly nodes: Informer<Node>;
  private readonly missingSince = new Map<string, number>();

  constructor(
    private readonly context: ControllerContext,
    private readonly terminatedThreshold: number,
  ) {
    this.pods = context.informers.informer(resources.pods);
    this.nodes = context.informers.informer(resources.nodes);
  }

  run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.context;
    return every(periodMs, clock, logger, signal, () => this.collect());
  }

  private async collect(): Promise<void> {
    const pods = this.pods.lister.list();
    for (const pod of excessTerminated(pods, this.terminatedThreshold)) await this.delete(pod);
    const gone = await this.goneNodes(pods);
    for (const pod of pods) if (gone.has(pod.spec?.nodeName ?? '')) await this.delete(pod);
    for (const pod of unscheduledTerminating(pods)) await this.delete(pod);
  }

  private async goneNodes(pods: readonly Pod[]): Promise<Set<string>> {
    const nowMs = this.context.clock.monotonicMs();
    const missing = missingNodes(pods, new Set(this.nodes.lister.keys()));
    for (const name of [...this.missingSince.keys()]) {
      if (!missing.has(name)) this.missingSince.delete(name);
    }
    const gone = new Set<string>();
    for (const name of missing) {
      const sinceMs = this.missingSince.get(name) ?? nowMs;
      this.missingSince.set(name, sinceMs);
      if (nowMs - sinceMs >= quarantineMs && (await this.isGone(name))) gone.add(name);
    }
    return gone;
  }

  private async isGone(nodeName: string): Promise<boolean> {
    try {
      await this.context.client.resource(resources.nodes).get(nodeName);
      return false;
    } catch (error) {
      if (isNotFound(error)) return true;
      throw error;
    }
  }

  private async delete(pod: Pod): Promise<void> {
    const { namespace, name = '', uid } = pod.metadata ?? {};
    this.context.logger.info({ pod: `${namespace}/${name}` }, 'pod is collected');
    try {
      await this.context.client
        .resource(resources.pods, namespace)
        .delete(name, { gracePeriodSeconds: 0, preconditions: { uid } });
    } catch (error) {
      // Gone, or another pod by now.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }
}
