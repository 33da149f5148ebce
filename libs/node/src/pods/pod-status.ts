/** Computes the status of a pod from its containers: phase, conditions, addresses. Pure. */
import { conditionOf, formatTime } from '@orch/apimachinery';
import type { ContainerStatus, Pod, PodCondition, PodStatus } from '@orch/types/core/v1';
import { containerStatuses, type StatusContext } from './container-statuses.js';
import type { PodView } from './pod-view.js';

export interface PodStatusContext extends StatusContext {
  readonly nowMs: number;
  readonly hostIp: string;
  /** Absent until the pod has a sandbox. */
  readonly podIp?: string;
  /** The reason for which the agent has ended the pod; overrides the state of its containers. */
  readonly failure?: { readonly reason: string; readonly message: string };
}

export function podStatus(view: PodView, context: PodStatusContext): PodStatus {
  const { pod } = view;
  const { nowMs, hostIp, podIp, failure } = context;
  const init = containerStatuses(view, 'init', context);
  const main = containerStatuses(view, 'main', context);
  const ephemeral = containerStatuses(view, 'ephemeral', context);
  const phase = failure ? 'Failed' : podPhase(pod, init, main);
  const before = pod.status ?? {};
  const reason = failure?.reason ?? (phase === 'Failed' ? before.reason : undefined);
  const message = failure?.message ?? (phase === 'Failed' ? before.message : undefined);
  return {
    phase,
    conditions: podConditions(pod, phase, init, main, nowMs),
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
    hostIP: hostIp,
    ...(podIp === undefined ? {} : { podIP: podIp, podIPs: [{ ip: podIp }] }),
    startTime: before.startTime ?? formatTime(nowMs),
    ...(init.length === 0 ? {} : { initContainerStatuses: init }),
    containerStatuses: main,
    ...(ephemeral.length === 0 ? {} : { ephemeralContainerStatuses: ephemeral }),
  };
}

function podPhase(
  pod: Pod,
  init: readonly ContainerStatus[],
  main: readonly ContainerStatus[],
): NonNullable<PodStatus['phase']> {
  const policy = pod.spec?.restartPolicy ?? 'Always';
  const hasStarted = main.some(({ state, lastState }) =>
    Boolean(state?.running || state?.terminated || lastState?.terminated),
  );
  for (const { state, lastState } of hasStarted ? [] : init) {
    const ended = state?.terminated;
    if (ended?.exitCode === 0) continue;
    const failed = ended ?? (state?.waiting ? lastState?.terminated : undefined);
    if (failed && failed.exitCode !== 0 && policy === 'Never') return 'Failed';
    return 'Pending';
  }
  const count = { running: 0, stopped: 0, succeeded: 0, waiting: 0 };
  for (const { state, lastState } of main) {
    const ended = state?.terminated ?? (state?.waiting ? lastState?.terminated : undefined);
    if (state?.running) count.running += 1;
    else if (!ended) count.waiting += 1;
    else {
      count.stopped += 1;
      if (state?.terminated?.exitCode === 0) count.succeeded += 1;
    }
  }
  if (count.waiting > 0) return 'Pending';
  if (count.running > 0) return 'Running';
  if (policy === 'Always' || count.stopped === 0) return count.stopped > 0 ? 'Running' : 'Pending';
  if (count.succeeded === count.stopped) return 'Succeeded';
  return policy === 'Never' ? 'Failed' : 'Running';
}

/** Returns the conditions that the agent owns. */
function podConditions(
  pod: Pod,
  phase: PodStatus['phase'],
  init: readonly ContainerStatus[],
  main: readonly ContainerStatus[],
  nowMs: number,
): PodCondition[] {
  const unready = main.filter(({ ready }) => !ready).map(({ name }) => name);
  const started = main.some(({ state }) => state?.running || state?.terminated);
  const incomplete = started ? [] : init.filter(({ ready }) => !ready).map(({ name }) => name);
  const isDone = phase === 'Succeeded';
  const initialized = isDone
    ? condition('Initialized', true, 'PodCompleted')
    : condition(
        'Initialized',
        incomplete.length === 0,
        'ContainersNotInitialized',
        `containers with incomplete status: [${incomplete.join(' ')}]`,
      );
  const notReady = `containers with unready status: [${unready.join(' ')}]`;
  const containersReady = isDone
    ? condition('ContainersReady', false, 'PodCompleted')
    : condition('ContainersReady', unready.length === 0, 'ContainersNotReady', notReady);
  const gates = unmetGates(pod);
  const ready =
    containersReady.status === 'True' && gates.length > 0
      ? condition('Ready', false, 'ReadinessGatesNotReady', gates.join(', '))
      : { ...containersReady, type: 'Ready' };
  const scheduled = conditionOf(pod.status?.conditions, 'PodScheduled');
  const all = [initialized, ready, containersReady, scheduled ?? condition('PodScheduled', true)];
  return all.map((next) => withTransition(next, pod, nowMs));
}

function condition(type: string, holds: boolean, reason?: string, message?: string): PodCondition {
  // Only unmet conditions have a reason, except for completed pods.
  const explains = !holds || reason === 'PodCompleted';
  return {
    type,
    status: holds ? 'True' : 'False',
    ...(explains && reason ? { reason } : {}),
    ...(explains && message ? { message } : {}),
  };
}

function unmetGates(pod: Pod): string[] {
  return (pod.spec?.readinessGates ?? []).flatMap(({ conditionType }) => {
    const found = conditionOf(pod.status?.conditions, conditionType);
    if (!found)
      return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
    if (found.status === 'True') return [];
    return [
      `the status of pod readiness gate "${conditionType}" is not "True", but ${found.status}`,
    ];
  });
}

/** Sets the transition time; an unchanged status retains the previous one. */
function withTransition(next: PodCondition, pod: Pod, nowMs: number): PodCondition {
  const before = conditionOf(pod.status?.conditions, next.type);
  const unchanged = before?.status === next.status ? before.lastTransitionTime : undefined;
  return { ...next, lastTransitionTime: unchanged ?? formatTime(nowMs) };
}
