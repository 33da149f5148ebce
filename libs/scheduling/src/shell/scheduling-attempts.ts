/**
 * Attempts to schedule single pods: filter, score, reserve, then bind in the background; or
 * preempt, and report why the pod waits. Without extenders the part up to the reservation is
 * synchronous, so that the next attempt sees its effect.
 */
import { type EventRecorder, isConflict, isNotFound } from '@orch/client';
import { type Clock, errorMessage, type Logger } from '@orch/component';
import type { ClusterCache } from '../cache/cluster-cache.js';
import { Cycle, type CycleContext } from '../framework/cycle.js';
import { type FilterResult, findFeasible, unschedulableMessage } from '../framework/filtering.js';
import type { Rejection } from '../framework/plugin.js';
import type { Profile } from '../framework/profile.js';
import { chooseBest, type NodeScores, scoreNodes } from '../framework/scoring.js';
import type { NodeInfo } from '../model/node-info.js';
import type { Nominations } from '../queue/nominations.js';
import type { QueuedPod, SchedulingQueue } from '../queue/scheduling-queue.js';
import type { BindingCycle } from './binding-cycle.js';
import type { ConditionWriter } from './condition-writer.js';
import type { Decisions } from './decisions.js';
import type { Extenders } from './extenders/extenders.js';
import { podReference } from './pod-reference.js';
import type { Preemptor } from './preemptor.js';
import type { SchedulerMetrics } from './scheduler-metrics.js';
import type { WaitingPods } from './waiting-pods.js';

export interface AttemptDependencies {
  readonly cache: ClusterCache;
  readonly queue: SchedulingQueue;
  readonly nominations: Nominations;
  readonly extenders: Extenders;
  readonly preemptor: Preemptor;
  readonly bindings: BindingCycle;
  readonly waitingPods: WaitingPods;
  readonly conditions: ConditionWriter;
  readonly decisions: Decisions;
  readonly profiles: ReadonlyMap<string, Profile>;
  /** Creates the context of a cycle from the present snapshot. */
  readonly context: () => CycleContext;
  readonly recorderOf: (schedulerName: string) => EventRecorder;
  readonly metrics: SchedulerMetrics;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly percentageOfNodesToScore: number;
  readonly prefersNominatedNode: boolean;
}

interface Attempt {
  readonly entry: QueuedPod;
  readonly cycle: Cycle;
  readonly profile: Profile;
  readonly recorder: EventRecorder;
  readonly startMs: number;
}

interface Best {
  /** Undefined if no node is feasible. */
  readonly best: NodeInfo | undefined;
  /** Undefined if at most one node is feasible. */
  readonly scores?: NodeScores;
  /** What extenders added to the scores, by node. */
  readonly added?: ReadonlyMap<string, number>;
}

type Choice = FilterResult & Best;

export class SchedulingAttempts {
  private nextStart = 0;

  constructor(private readonly dependencies: AttemptDependencies) {}

  /** Resolves when the decision is made; it must be awaited if there are extenders. */
  async run(entry: QueuedPod): Promise<void> {
    const { info, key } = entry;
    const { queue, cache, profiles, context, recorderOf, clock } = this.dependencies;
    const profile = profiles.get(info.schedulerName);
    if (!profile || info.terminating || cache.nodeOf(key) !== undefined) {
      queue.done(key);
      return;
    }
    const attempt = {
      entry,
      cycle: new Cycle(info, context()),
      profile,
      recorder: recorderOf(profile.schedulerName),
      startMs: clock.monotonicMs(),
    };
    try {
      const { extenders } = this.dependencies;
      const choice = extenders.isEmpty ? this.choose(attempt) : await this.chooseExtended(attempt);
      this.dependencies.metrics.cycle(clock.monotonicMs() - attempt.startMs);
      if (choice.best) {
        this.place(attempt, choice.best);
        this.record(attempt, choice, choice.best);
      } else await this.unschedulable(attempt, choice);
    } catch (error) {
      this.failed(attempt, error);
    }
  }

  private choose({ cycle, profile }: Attempt): Choice {
    const found = this.filter(cycle, profile);
    return { ...found, ...best(cycle, profile, found.feasible) };
  }

  private async chooseExtended({ cycle, profile }: Attempt): Promise<Choice> {
    const { extenders } = this.dependencies;
    const found = this.filter(cycle, profile);
    const { pod } = cycle.pod;
    const extended = await extenders.filter(pod, found.feasible);
    const { feasible } = extended;
    const rejections = new Map([...found.rejections, ...extended.rejections]);
    // What an extender rejects may fit after any change.
    const rejectedBy = extended.rejections.size > 0 ? new Set<string>() : found.rejectedBy;
    const added = feasible.length > 1 ? await extenders.prioritize(pod, feasible) : undefined;
    return { ...found, feasible, rejections, rejectedBy, ...best(cycle, profile, feasible, added) };
  }

  private filter(cycle: Cycle, profile: Profile): FilterResult {
    const { percentageOfNodesToScore, prefersNominatedNode } = this.dependencies;
    const found = findFeasible(cycle, profile, {
      start: this.nextStart,
      percentageOfNodesToScore,
      prefersNominatedNode,
    });
    this.nextStart = found.nextStart;
    return found;
  }

  /** Reserves the node for the pod and starts the binding. Throws if a plugin rejects it. */
  private place(attempt: Attempt, node: NodeInfo): void {
    const { cycle, profile } = attempt;
    const { cache, nominations } = this.dependencies;
    cache.assume(cycle.pod, node.name);
    try {
      for (const plugin of profile.reserves) check(plugin.name, plugin.reserve(cycle, node));
      const permission = this.permission(attempt, node);
      nominations.delete(cycle.pod.uid);
      void this.bind(attempt, node.name, permission);
    } catch (error) {
      this.release(attempt, node.name);
      throw error;
    }
  }

  private record({ cycle }: Attempt, choice: Choice, { name }: NodeInfo): void {
    const { decisions, clock } = this.dependencies;
    decisions.record(cycle.pod.key, {
      uid: cycle.pod.uid,
      node: name,
      decidedAtMs: clock.nowMs(),
      nodeCount: cycle.context.cluster.nodes.length,
      rejections: choice.rejections,
      feasible: namesOf(choice.feasible),
      scores: choice.scores,
      added: choice.added,
    });
  }

  private permission({ cycle, profile }: Attempt, node: NodeInfo): Promise<void> | undefined {
    let longestMs = 0;
    for (const plugin of profile.permits) {
      const permission = plugin.permit(cycle, node);
      if (permission === 'allow') continue;
      if ('reasons' in permission) check(plugin.name, permission);
      else longestMs = Math.max(longestMs, permission.waitMs);
    }
    if (longestMs === 0) return undefined;
    return this.dependencies.waitingPods.wait(cycle.pod.uid, longestMs);
  }

  private release({ cycle, profile }: Attempt, node: string): void {
    for (const plugin of [...profile.reserves].reverse()) plugin.unreserve?.(cycle, node);
    this.dependencies.cache.forget(cycle.pod.key);
  }

  private async bind(
    attempt: Attempt,
    node: string,
    permission: Promise<void> | undefined,
  ): Promise<void> {
    const { entry, cycle, profile, recorder, startMs } = attempt;
    const { bindings, cache, queue, metrics, clock, logger } = this.dependencies;
    const { key, pod } = cycle.pod;
    try {
      const bindingMs = await bindings.run(cycle, node, profile, permission);
      cache.bound(key);
      queue.done(key);
      metrics.binding(bindingMs);
      metrics.attempt('scheduled', profile.schedulerName, clock.monotonicMs() - startMs);
      metrics.scheduled(entry.attempts, clock.monotonicMs() - entry.addedAtMs);
      logger.info({ pod: key, node }, 'pod bound');
      const message = `Successfully assigned ${key} to ${node}`;
      recorder.event(podReference(pod), 'Normal', 'Scheduled', message);
    } catch (error) {
      this.release(attempt, node);
      // The pod occupied the node, so that others may fit now.
      queue.moveRejected(profile.filters.map((plugin) => plugin.name));
      this.failed(attempt, error);
    }
  }

  private async unschedulable(attempt: Attempt, choice: Choice): Promise<void> {
    const { cycle, profile, recorder, startMs } = attempt;
    const { preemptor, queue, metrics, clock, conditions, logger } = this.dependencies;
    const { pod, key } = cycle.pod;
    const message = unschedulableMessage(cycle.context.cluster.nodes.length, choice.rejections);
    metrics.attempt('unschedulable', profile.schedulerName, clock.monotonicMs() - startMs);
    logger.debug({ pod: key, reason: message }, 'no feasible node for the pod');
    const preemption = await preemptor.preempt(cycle, profile, choice, recorder);
    queue.failed(key, choice.rejectedBy);
    recorder.event(podReference(pod), 'Warning', 'FailedScheduling', message);
    conditions.write(pod, { reason: 'Unschedulable', message, ...preemption });
  }

  /** Retries the pod after its back-off unless it was deleted. */
  private failed({ cycle, profile, recorder, startMs }: Attempt, error: unknown): void {
    const { queue, metrics, clock, conditions, logger } = this.dependencies;
    const { pod, key } = cycle.pod;
    if (isNotFound(error)) {
      queue.done(key);
      return;
    }
    metrics.attempt('error', profile.schedulerName, clock.monotonicMs() - startMs);
    if (!queue.retry(key)) return;
    if (isConflict(error)) {
      logger.info({ pod: key, err: error }, 'binding conflict');
      return;
    }
    const message = errorMessage(error);
    logger.warn({ pod: key, err: error }, 'attempt to schedule failed');
    recorder.event(podReference(pod), 'Warning', 'FailedScheduling', message);
    conditions.write(pod, { reason: 'SchedulerError', message });
  }
}

function best(
  cycle: Cycle,
  profile: Profile,
  feasible: readonly NodeInfo[],
  added?: ReadonlyMap<string, number>,
): Best {
  if (feasible.length <= 1) return { best: feasible[0] };
  const scores = scoreNodes(cycle, profile, feasible);
  if (added) {
    feasible.forEach((node, index) => {
      scores.totals[index]! += added.get(node.name) ?? 0;
    });
  }
  const chosen = chooseBest(feasible, scores.totals, cycle.context.random);
  return { best: chosen, scores, ...(added && { added }) };
}

function namesOf(nodes: readonly NodeInfo[]): string[] {
  const names: string[] = [];
  for (const { name } of nodes) names.push(name);
  return names;
}

/** Throws if the plugin rejects the node that was chosen. */
function check(plugin: string, rejected: Rejection | undefined): void {
  if (rejected) throw new Error(`plugin ${plugin}: ${rejected.reasons.join(', ')}`);
}
