/**
 * The configured extenders, called one after the other. An extender that fails is skipped if it is
 * ignorable, otherwise the attempt fails; scores are always optional.
 */
import { errorMessage, type Logger } from '@orch/component';
import type { Pod } from '@orch/types/core/v1';
import { type Candidate, type NamedRejection, scoreMax } from '../../framework/plugin.js';
import type { NodeInfo } from '../../model/node-info.js';
import { type ExtenderClient, extenderScoreMax } from './extender-client.js';

export interface ExtendedFilter {
  readonly feasible: readonly NodeInfo[];
  /** By node name. */
  readonly rejections: ReadonlyMap<string, NamedRejection>;
}

export class Extenders {
  constructor(
    private readonly clients: readonly ExtenderClient[],
    private readonly logger: Logger,
  ) {}

  get isEmpty(): boolean {
    return this.clients.length === 0;
  }

  async filter(pod: Pod, nodes: readonly NodeInfo[]): Promise<ExtendedFilter> {
    let feasible = nodes;
    const rejections = new Map<string, NamedRejection>();
    for (const client of this.clients) {
      if (feasible.length === 0) break;
      if (!client.canFilter || !client.concerns(pod)) continue;
      try {
        const result = await client.filter(pod, feasible);
        const plugin = `extender ${client.options.urlPrefix}`;
        for (const [node, reason] of result.failed) {
          rejections.set(node, { plugin, reasons: [reason], isFinal: false });
        }
        for (const [node, reason] of result.failedFinally) {
          rejections.set(node, { plugin, reasons: [reason], isFinal: true });
        }
        feasible = result.feasible;
      } catch (error) {
        if (!client.options.ignorable) throw error;
        this.logger.warn({ err: error }, 'skipped an extender that failed to filter');
      }
    }
    return { feasible, rejections };
  }

  /** Returns what to add to the scores of the plugins, by node. */
  async prioritize(pod: Pod, nodes: readonly NodeInfo[]): Promise<ReadonlyMap<string, number>> {
    const sums = new Map<string, number>();
    const concerned = this.clients.filter((one) => one.canPrioritize && one.concerns(pod));
    await Promise.all(
      concerned.map(async (client) => {
        try {
          for (const [node, score] of await client.prioritize(pod, nodes)) {
            const weighted = score * client.options.weight * (scoreMax / extenderScoreMax);
            sums.set(node, (sums.get(node) ?? 0) + weighted);
          }
        } catch (error) {
          this.logger.warn({ err: error }, 'ignored the scores of an extender that failed');
        }
      }),
    );
    return sums;
  }

  async preempt(pod: Pod, candidates: readonly Candidate[]): Promise<readonly Candidate[]> {
    let accepted = candidates;
    for (const client of this.clients) {
      if (accepted.length === 0) break;
      if (!client.canPreempt || !client.concerns(pod)) continue;
      try {
        accepted = await client.preempt(pod, accepted);
      } catch (error) {
        if (!client.options.ignorable) throw error;
        this.logger.warn({ err: error }, 'skipped an extender that failed to preempt');
      }
    }
    return accepted;
  }

  /** Returns the extender that binds the pod; undefined if the scheduler does. */
  binderOf(pod: Pod): ExtenderClient | undefined {
    return this.clients.find((client) => client.canBind && client.concerns(pod));
  }

  async close(): Promise<void> {
    await Promise.all(
      this.clients.map((client) =>
        client.close().catch((error: unknown) => {
          this.logger.warn({ problem: errorMessage(error) }, 'extender did not close');
        }),
      ),
    );
  }
}
