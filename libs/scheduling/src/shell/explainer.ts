/**
 * Explains decisions on request: a bound pod by the recorded decision, a pending pod by an
 * evaluation of the present snapshot. Nothing is computed before a request.
 */
import type { PodReport } from '@orch/client';
import type { Clock } from '@orch/component';
import type { Pod } from '@orch/types/core/v1';
import type { ClusterCache } from '../cache/cluster-cache.js';
import { Cycle, type CycleContext } from '../framework/cycle.js';
import { evaluateNodes } from '../framework/explanation.js';
import type { Profile } from '../framework/profile.js';
import { podInfo } from '../model/pod-info.js';
import type { Nominations } from '../queue/nominations.js';
import type { SchedulingQueue, WaitingState } from '../queue/scheduling-queue.js';
import type { Decisions } from './decisions.js';
import type { Extenders } from './extenders/extenders.js';
import { decisionReport, evaluationReport } from './pod-report.js';

export interface ExplainerDependencies {
  /** Returns a pod by `namespace/name`. */
  readonly pod: (key: string) => Pod | undefined;
  readonly cache: ClusterCache;
  readonly queue: SchedulingQueue;
  readonly nominations: Nominations;
  readonly decisions: Decisions;
  readonly extenders: Extenders;
  readonly profiles: ReadonlyMap<string, Profile>;
  readonly context: () => CycleContext;
  readonly clock: Clock;
}

const noDecision =
  'the decision is not recorded: it was evicted by later ones, or another process made it';
const partial =
  'the search ended when enough feasible nodes were found; the other nodes were not examined';

export class Explainer {
  constructor(private readonly dependencies: ExplainerDependencies) {}

  /** Returns undefined if the pod does not exist, has ended, or belongs to another scheduler. */
  explain(key: string): PodReport | undefined {
    const { pod: find, profiles, cache } = this.dependencies;
    const pod = find(key);
    const profile = profiles.get(pod?.spec?.schedulerName ?? '');
    if (!pod || !profile) return undefined;
    const base = {
      pod: key,
      uid: pod.metadata?.uid ?? '',
      schedulerName: profile.schedulerName,
    };
    const bound = pod.spec?.nodeName;
    if (bound) return { ...base, state: 'bound', node: bound, ...this.decided(key, base.uid) };
    const chosen = cache.nodeOf(key);
    if (chosen === undefined) return { ...base, ...this.pending(pod, profile) };
    return { ...base, state: 'binding', node: chosen, ...this.decided(key, base.uid) };
  }

  private decided(key: string, uid: string): Pick<PodReport, 'nodes' | 'notes'> {
    const decision = this.dependencies.decisions.find(key, uid);
    if (!decision) return { nodes: [], notes: [noDecision] };
    const report = decisionReport(decision);
    return { ...report, notes: report.nodes.length < decision.nodeCount ? [partial] : [] };
  }

  private pending(pod: Pod, profile: Profile): Omit<PodReport, 'pod' | 'uid' | 'schedulerName'> {
    const { queue, nominations, context, clock, extenders } = this.dependencies;
    const info = podInfo(pod);
    const evaluation = evaluateNodes(new Cycle(info, context()), profile);
    const nominatedNode = nominations.nodeOf(info.uid);
    const waiting = queue.waitingState(info.key);
    return {
      state: 'pending',
      ...(nominatedNode && { nominatedNode }),
      ...(waiting && { queue: waitingText(waiting) }),
      ...evaluationReport(evaluation, clock.nowMs()),
      notes: extenders.isEmpty ? [] : ['extenders are not called for an explanation'],
    };
  }
}

function waitingText({ state, attempts, retryInMs }: WaitingState): string {
  const count = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`;
  if (retryInMs === undefined) return `${state} after ${count}`;
  return `${state} after ${count}, next attempt in ${Math.ceil(retryInMs / 1_000)} s at the latest`;
}
