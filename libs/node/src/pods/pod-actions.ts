/** Decides what brings a pod closer to its specification. Pure: state in, actions out. */
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
  /** When the run before ended; absent for the first. */
  readonly previousFinishedMs?: number;
}

export interface KillAction {
  readonly run: ContainerStatus;
  readonly reason: string;
  /** The probe that has failed, if that is why. */
  readonly probe?: ProbeKind;
}

export interface PodActions {
  /** The pod needs a new sandbox, with this attempt number, before anything starts. */
  readonly newSandboxAttempt?: number;
  readonly start: readonly StartAction[];
  readonly kill: readonly KillAction[];
  /** Containers that wait for their back-off, by name, and for how long. */
  readonly backingOff: ReadonlyMap<string, number>;
}

export interface ActionContext {
  probe(id: ContainerId, kind: ProbeKind): ProbeOutcome | undefined;
  /** Milliseconds until the container may start again. */
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
    // Its containers first: they hold what the new sandbox would share out again.
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
  // In order, one at a time: the first that has not ended well is the one to care for.
  const next = initContainersOf(pod).find(({ name }) => {
    const run = latestRun(view, name);
    return !(run?.sandboxId === sandbox.id && run.state === 'exited' && run.exitCode === 0);
  });
  if (next) consider(next, true);
  return actions;
}

/** Those that were never made. */
function newEphemeral(view: PodView): StartAction[] {
  const { pod } = view;
  const known = pod.status?.ephemeralContainerStatuses ?? [];
  return ephemeralContainersOf(pod)
    .filter(({ name }) => {
      const wasMade = known.some((status) => status.name === name && status.containerID);
      return !wasMade && !latestRun(view, name);
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

/** Counts on from the API's status where the runtime has lost the runs before. */
function nextAttempt(view: PodView, name: string, run: ContainerStatus | undefined): number {
  if (run) return run.attempt + 1;
  const known = allStatusesOf(view.pod).find((status) => status.name === name);
  return known?.containerID ? known.restartCount + 1 : 0;
}
