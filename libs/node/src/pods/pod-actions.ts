/** Decides which actions bring a pod to its specification. Pure. */
import type { Container } from '@orch/types/core/v1';
import type { ProbeKind, ProbeOutcome } from '../probes/probe-counter.js';
import type { ContainerId, ContainerStatus } from '../runtimes/container-runtime.js';
import {
  allStatusesOf,
  ephemeralContainersOf,
  initContainersOf,
  isFinished,
  isInitialized,
  latestRun,
  mainContainersOf,
  type PodView,
  runningRuns,
  wantsRestart,
} from './pod-view.js';

export interface StartAction {
  readonly container: Container;
  readonly attempt: number;
  readonly isInit: boolean;
  /** The end of the previous run; absent for the first run. */
  readonly previousFinishedMs?: number;
}

export interface KillAction {
  readonly run: ContainerStatus;
  readonly reason: string;
  /** The failed probe, if it is the reason. */
  readonly probe?: ProbeKind;
}

export interface PodActions {
  /** The attempt number of the new sandbox that the pod needs before any container starts. */
  readonly newSandboxAttempt?: number;
  readonly start: readonly StartAction[];
  readonly kill: readonly KillAction[];
  /** The remaining back-off in milliseconds, by container name. */
  readonly backingOff: ReadonlyMap<string, number>;
}

export interface ActionContext {
  probe(id: ContainerId, kind: ProbeKind): ProbeOutcome | undefined;
  /** Returns the milliseconds until the container may restart. */
  backoffMs(container: Container, run: ContainerStatus): number;
}

export function podActions(view: PodView, context: ActionContext): PodActions {
  const { pod, sandbox } = view;
  const start: StartAction[] = [];
  const kill: KillAction[] = [];
  const backingOff = new Map<string, number>();
  const actions = { start, kill, backingOff };
  if (isFinished(view)) return actions;
  if (sandbox?.state !== 'ready') {
    for (const run of runningRuns(view)) kill.push({ run, reason: 'Pod sandbox changed' });
    // The containers of the old sandbox must end first, because they use its resources.
    if (kill.length > 0) return actions;
    return { ...actions, newSandboxAttempt: (sandbox?.attempt ?? -1) + 1 };
  }
  const consider = (container: Container, isInit: boolean) => {
    const run = latestRun(view, container.name);
    if (run?.state === 'running') {
      const reason = killReason(container, run, context);
      if (reason) kill.push({ run, ...reason });
      return;
    }
    if (run?.state === 'exited' && run.sandboxId === sandbox.id && isInit && run.exitCode === 0) {
      return;
    }
    const isRerun = isInit && run?.sandboxId !== sandbox.id;
    if (run?.state === 'exited' && !isRerun && !wantsRestart(pod, run, isInit)) return;
    const waitMs = run ? context.backoffMs(container, run) : 0;
    if (waitMs > 0) {
      backingOff.set(container.name, waitMs);
      return;
    }
    const attempt = nextAttempt(view, container.name, run);
    const finished = run?.finishedAtMs;
    start.push({
      container,
      attempt,
      isInit,
      ...(finished === undefined ? {} : { previousFinishedMs: finished }),
    });
  };
  start.push(...newEphemeral(view));
  if (isInitialized(view)) {
    for (const container of mainContainersOf(pod)) consider(container, false);
    return actions;
  }
  // Init containers run sequentially: only the first that has not succeeded is considered.
  const next = initContainersOf(pod).find(({ name }) => {
    const run = latestRun(view, name);
    return !(run?.sandboxId === sandbox.id && run.state === 'exited' && run.exitCode === 0);
  });
  if (next) consider(next, true);
  return actions;
}

/** Returns start actions for ephemeral containers that were never created. */
function newEphemeral(view: PodView): StartAction[] {
  const { pod } = view;
  const reported = pod.status?.ephemeralContainerStatuses ?? [];
  return ephemeralContainersOf(pod)
    .filter(({ name }) => {
      const wasCreated = reported.some((status) => status.name === name && status.containerID);
      return !wasCreated && !latestRun(view, name);
    })
    .map((container) => ({ container, attempt: 0, isInit: false }));
}

function killReason(
  container: Container,
  run: ContainerStatus,
  context: ActionContext,
): { reason: string; probe?: ProbeKind } | undefined {
  if (run.image !== (container.image ?? '')) {
    return { reason: `Container ${container.name} definition changed, will be restarted` };
  }
  for (const probe of ['startup', 'liveness'] as const) {
    if (context.probe(run.id, probe) === 'failure') {
      return {
        reason: `Container ${container.name} failed ${probe} probe, will be restarted`,
        probe,
      };
    }
  }
  return undefined;
}

/** Returns the next attempt number, from the status in the API if the runtime has lost the runs. */
function nextAttempt(view: PodView, name: string, run: ContainerStatus | undefined): number {
  if (run) return run.attempt + 1;
  const reported = allStatusesOf(view.pod).find((status) => status.name === name);
  return reported?.containerID ? reported.restartCount + 1 : 0;
}
