/**
 * Makes room for a pod that fits nowhere: evicts the victims of the best candidate and nominates
 * the pod for its node.
 */
import { type ApiClient, type EventRecorder, isNotFound, resources } from '@orch/client';
import type { Logger } from '@orch/component';
import type { Cycle } from '../framework/cycle.js';
import { type FilterResult, movePod, rejectionOf } from '../framework/filtering.js';
import type { Candidate } from '../framework/plugin.js';
import type { Profile } from '../framework/profile.js';
import { evictionConcurrencyMax, requestTimeoutMs } from '../limits.js';
import type { PodInfo } from '../model/pod-info.js';
import { chooseCandidate } from '../plugins/preemption/choose-candidate.js';
import type { Nominations } from '../queue/nominations.js';
import type { SchedulingQueue } from '../queue/scheduling-queue.js';
import type { ConditionWriter } from './condition-writer.js';
import type { Extenders } from './extenders/extenders.js';
import { podReference } from './pod-reference.js';
import type { SchedulerMetrics } from './scheduler-metrics.js';
import type { WaitingPods } from './waiting-pods.js';

export interface PreemptorDependencies {
  readonly client: ApiClient;
  readonly extenders: Extenders;
  readonly nominations: Nominations;
  readonly queue: SchedulingQueue;
  readonly conditions: ConditionWriter;
  readonly waitingPods: WaitingPods;
  readonly metrics: SchedulerMetrics;
  readonly logger: Logger;
}

export interface PreemptionResult {
  /** The node on which room is made; undefined if there is none. */
  readonly nominatedNode?: string;
  readonly clearsNomination: boolean;
}

export class Preemptor {
  constructor(private readonly dependencies: PreemptorDependencies) {}

  /**
   * Runs PostFilter. The nomination takes effect before the first request, so that the next cycle
   * takes it into account; the result arrives after the evictions were requested.
   */
  async preempt(
    cycle: Cycle,
    profile: Profile,
    { rejections }: Pick<FilterResult, 'rejections'>,
    recorder: EventRecorder,
  ): Promise<PreemptionResult> {
    const input = {
      rejections,
      simulate: (simulated: Cycle, node: Parameters<typeof rejectionOf>[2]) =>
        rejectionOf(simulated, profile, node),
      move: (...[simulated, node, pod, sign]: Parameters<MovePod>) =>
        movePod(simulated, profile, node, pod, sign),
    };
    let clearsNomination = false;
    for (const plugin of profile.postFilters) {
      const result = plugin.postFilter(cycle, input);
      clearsNomination ||= result.clearsNomination;
      const { extenders } = this.dependencies;
      const candidates = extenders.isEmpty
        ? result.candidates
        : await extenders.preempt(cycle.pod.pod, result.candidates);
      const best = chooseCandidate(candidates);
      if (!best) continue;
      return { nominatedNode: await this.makeRoom(cycle, best, recorder), clearsNomination };
    }
    if (clearsNomination) this.dependencies.nominations.delete(cycle.pod.uid);
    return { clearsNomination };
  }

  /** Returns undefined if an eviction fails. */
  private async makeRoom(
    { pod }: Cycle,
    candidate: Candidate,
    recorder: EventRecorder,
  ): Promise<string | undefined> {
    const { nominations, metrics, logger } = this.dependencies;
    const { node, victims } = candidate;
    const names = victims.map(({ key }) => key);
    logger.info({ pod: pod.key, node, victims: names }, 'preempting pods');
    metrics.preemption(victims.length);
    this.releaseLower(pod, node);
    nominations.set(pod, node);
    try {
      await this.evictAll(victims, pod, node, recorder);
      return node;
    } catch (error) {
      logger.warn({ pod: pod.key, node, err: error }, 'eviction failed, nomination dropped');
      nominations.delete(pod.uid);
      return undefined;
    }
  }

  /** Pods of lower priority that were nominated for the node look for another one. */
  private releaseLower(pod: PodInfo, node: string): void {
    const { nominations, conditions, queue } = this.dependencies;
    for (const other of nominations.on(node)) {
      if (other.priority >= pod.priority) continue;
      nominations.delete(other.uid);
      conditions.clearNomination(other.pod);
      queue.move(other.key);
    }
  }

  private async evictAll(
    victims: readonly PodInfo[],
    pod: PodInfo,
    node: string,
    recorder: EventRecorder,
  ): Promise<void> {
    const waiting = [...victims];
    const work = async () => {
      for (let victim = waiting.shift(); victim; victim = waiting.shift()) {
        await this.evict(victim, pod, node, recorder);
      }
    };
    await Promise.all(Array.from({ length: evictionConcurrencyMax }, work));
  }

  private async evict(
    victim: PodInfo,
    pod: PodInfo,
    node: string,
    recorder: EventRecorder,
  ): Promise<void> {
    if (victim.terminating) return;
    const { client, waitingPods } = this.dependencies;
    if (!waitingPods.reject(victim.uid, `preempted by ${pod.key}`)) {
      try {
        await client.resource(resources.pods, victim.namespace).delete(victim.name, {
          preconditions: { uid: victim.uid },
          timeoutMs: requestTimeoutMs,
        });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    }
    const message = `Preempted by ${pod.key} on node ${node}`;
    recorder.event(podReference(victim.pod), 'Normal', 'Preempted', message);
  }
}

type MovePod = Parameters<NonNullable<Profile['postFilters'][number]['postFilter']>>[1]['move'];
