/** The status of each container as the API shows it. Pure. */
import { formatTime } from '@orch/apimachinery';
import type {
  ContainerState as ApiState,
  ContainerStatus as ApiStatus,
  Container,
  Pod,
} from '@orch/types/core/v1';
import type { ProbeKind, ProbeOutcome } from '../probes/probe-counter.js';
import type { ContainerId, ContainerStatus } from '../runtimes/container-runtime.js';
import {
  initContainersOf,
  isInitialized,
  mainContainersOf,
  type PodView,
  wantsRestart,
} from './pod-view.js';

export interface Waiting {
  readonly reason: string;
  readonly message?: string;
}

export interface StatusContext {
  /** Scheme of container ids. */
  readonly runtimeName: string;
  probe(id: ContainerId, kind: ProbeKind): ProbeOutcome | undefined;
  /** Why a container does not run, where that is known. */
  waiting(name: string): Waiting | undefined;
  /** A hook that has to end before the container counts as running. */
  isStarting(id: ContainerId): boolean;
  terminationMessage(run: ContainerStatus): string;
}

export function containerStatuses(
  view: PodView,
  kind: 'init' | 'main',
  context: StatusContext,
): ApiStatus[] {
  const isInit = kind === 'init';
  const containers = isInit ? initContainersOf(view.pod) : mainContainersOf(view.pod);
  const known =
    (isInit ? view.pod.status?.initContainerStatuses : view.pod.status?.containerStatuses) ?? [];
  const hasInit = initContainersOf(view.pod).length > 0;
  const unborn =
    hasInit && (isInit || !isInitialized(view)) ? 'PodInitializing' : 'ContainerCreating';
  return containers.map((container) =>
    containerStatus(
      container,
      view.runs.get(container.name) ?? [],
      known.find(({ name }) => name === container.name),
      { ...context, pod: view.pod, isInit, unborn },
    ),
  );
}

function containerStatus(
  container: Container,
  runs: readonly ContainerStatus[],
  known: ApiStatus | undefined,
  context: StatusContext & { pod: Pod; isInit: boolean; unborn: string },
): ApiStatus {
  const [latest, previous] = runs;
  if (!latest) {
    const waiting = context.waiting(container.name) ?? { reason: context.unborn };
    // What the runtime has lost is kept as the API knows it.
    if (known?.containerID) {
      const last = known.state?.terminated ?? known.lastState?.terminated;
      if (known.state?.terminated && !context.waiting(container.name)) return known;
      return {
        ...known,
        ready: false,
        started: false,
        state: { waiting },
        lastState: last ? { terminated: last } : {},
      };
    }
    return {
      name: container.name,
      state: { waiting },
      lastState: {},
      ready: false,
      restartCount: 0,
      image: container.image ?? '',
      imageID: '',
      started: false,
    };
  }
  const isOver = latest.state === 'exited' && !wantsRestart(context.pod, latest, context.isInit);
  const waits = latest.state !== 'running' && !isOver;
  const waiting = waits ? context.waiting(container.name) : undefined;
  const starting = latest.state === 'running' && context.isStarting(latest.id);
  const state: ApiState = waiting
    ? { waiting }
    : latest.state === 'created' || starting
      ? { waiting: { reason: context.unborn } }
      : stateOf(latest, context);
  const last = waiting && latest.state === 'exited' ? latest : previous;
  const isRunning = latest.state === 'running' && !starting;
  const started =
    isRunning && (!container.startupProbe || context.probe(latest.id, 'startup') === 'success');
  const isReady =
    started && (!container.readinessProbe || context.probe(latest.id, 'readiness') === 'success');
  return {
    name: container.name,
    state,
    lastState:
      last?.state === 'exited' ? stateOf(last, context) : knownLast(latest, known, context),
    ready: context.isInit ? latest.state === 'exited' && latest.exitCode === 0 : isReady,
    restartCount: latest.attempt,
    image: latest.image,
    imageID: latest.imageRef,
    containerID: containerIdOf(latest, context.runtimeName),
    ...(context.isInit ? {} : { started }),
  };
}

/** How the run before ended, where only the API still knows. */
function knownLast(
  latest: ContainerStatus,
  known: ApiStatus | undefined,
  context: StatusContext,
): ApiState {
  if (latest.attempt === 0 || !known) return {};
  const isSame = known.containerID === containerIdOf(latest, context.runtimeName);
  const ended = isSame ? known.lastState?.terminated : known.state?.terminated;
  return ended ? { terminated: ended } : {};
}

function stateOf(run: ContainerStatus, context: StatusContext): ApiState {
  if (run.state === 'running') {
    return { running: { startedAt: formatTime(run.startedAtMs ?? run.createdAtMs) } };
  }
  const message = run.message ?? context.terminationMessage(run);
  // It never came to run: the command could not be started.
  const reason = run.startedAtMs === undefined && run.exitCode === 128 ? 'StartError' : run.reason;
  return {
    terminated: {
      exitCode: run.exitCode ?? 0,
      reason: reason ?? 'Error',
      ...(message === '' ? {} : { message }),
      startedAt: formatTime(run.startedAtMs ?? run.createdAtMs),
      finishedAt: formatTime(run.finishedAtMs ?? run.createdAtMs),
      containerID: containerIdOf(run, context.runtimeName),
    },
  };
}

function containerIdOf(run: ContainerStatus, runtimeName: string): string {
  return `${runtimeName}://${run.id}`;
}
