/** Computes the container statuses of the API. Pure. */
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
  ephemeralContainersOf,
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
  /** The scheme of container ids. */
  readonly runtimeName: string;
  probe(id: ContainerId, kind: ProbeKind): ProbeOutcome | undefined;
  /** Returns the waiting state of a container, if known. */
  waiting(name: string): Waiting | undefined;
  /** Whether the postStart hook still runs, so that the container does not count as running. */
  isStarting(id: ContainerId): boolean;
  terminationMessage(run: ContainerStatus): string;
}

type ContainerKind = 'init' | 'main' | 'ephemeral';

const containersOf = {
  init: initContainersOf,
  main: mainContainersOf,
  ephemeral: ephemeralContainersOf,
} as const;

const statusFields = {
  init: 'initContainerStatuses',
  main: 'containerStatuses',
  ephemeral: 'ephemeralContainerStatuses',
} as const;

/**
 * Returns the statuses of all containers of a kind. Ephemeral containers are never ready and never
 * restart.
 */
export function containerStatuses(
  view: PodView,
  kind: ContainerKind,
  context: StatusContext,
): ApiStatus[] {
  const containers = containersOf[kind](view.pod);
  const reported = view.pod.status?.[statusFields[kind]] ?? [];
  const hasInit = initContainersOf(view.pod).length > 0;
  const initialReason =
    hasInit && (kind === 'init' || !isInitialized(view)) ? 'PodInitializing' : 'ContainerCreating';
  return containers.map((container) =>
    containerStatus(
      container,
      view.runs.get(container.name) ?? [],
      reported.find(({ name }) => name === container.name),
      { ...context, pod: view.pod, kind, initialReason },
    ),
  );
}

function containerStatus(
  container: Container,
  runs: readonly ContainerStatus[],
  reported: ApiStatus | undefined,
  context: StatusContext & { pod: Pod; kind: ContainerKind; initialReason: string },
): ApiStatus {
  const [latest, previous] = runs;
  if (!latest) {
    const waiting = context.waiting(container.name) ?? { reason: context.initialReason };
    // If the runtime has lost the container, its status in the API is preserved.
    if (reported?.containerID) {
      const last = reported.state?.terminated ?? reported.lastState?.terminated;
      if (reported.state?.terminated && !context.waiting(container.name)) return reported;
      return {
        ...reported,
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
  const isInit = context.kind === 'init';
  const isEphemeral = context.kind === 'ephemeral';
  const isOver =
    latest.state === 'exited' && (isEphemeral || !wantsRestart(context.pod, latest, isInit));
  const waits = latest.state !== 'running' && !isOver;
  const waiting = waits ? context.waiting(container.name) : undefined;
  const starting = latest.state === 'running' && context.isStarting(latest.id);
  const state: ApiState = waiting
    ? { waiting }
    : latest.state === 'created' || starting
      ? { waiting: { reason: context.initialReason } }
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
      last?.state === 'exited' ? stateOf(last, context) : reportedLast(latest, reported, context),
    ready: isInit ? latest.state === 'exited' && latest.exitCode === 0 : isReady && !isEphemeral,
    restartCount: latest.attempt,
    image: latest.image,
    imageID: latest.imageRef,
    containerID: containerIdOf(latest, context.runtimeName),
    ...(context.kind === 'main' ? { started } : {}),
  };
}

/** Returns the end of the previous run from the status in the API. */
function reportedLast(
  latest: ContainerStatus,
  reported: ApiStatus | undefined,
  context: StatusContext,
): ApiState {
  if (latest.attempt === 0 || !reported) return {};
  const isSame = reported.containerID === containerIdOf(latest, context.runtimeName);
  const ended = isSame ? reported.lastState?.terminated : reported.state?.terminated;
  return ended ? { terminated: ended } : {};
}

function stateOf(run: ContainerStatus, context: StatusContext): ApiState {
  if (run.state === 'running') {
    return { running: { startedAt: formatTime(run.startedAtMs ?? run.createdAtMs) } };
  }
  const message = run.message ?? context.terminationMessage(run);
  // Exit code 128 without a start time: the command could not be started.
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
