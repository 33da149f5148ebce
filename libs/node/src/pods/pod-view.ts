/** A pod as seen by its worker: the specification and the state in the runtime. Pure. */
import type {
  ContainerStatus as ApiStatus,
  Container,
  EphemeralContainer,
  Pod,
} from '@orch/types/core/v1';
import type { ContainerStatus, SandboxStatus } from '../runtimes/container-runtime.js';

/** Annotations of containers in the runtime, in which the agent stores additional data. */
export const annotationKeys = {
  /** Host path of the file for the termination message. */
  messagePath: 'termination-message-path',
  messagePolicy: 'termination-message-policy',
  /** In seconds; used for containers whose pod is no longer known. */
  graceSeconds: 'termination-grace-seconds',
} as const;

export interface PodView {
  readonly pod: Pod;
  /** The newest sandbox. */
  readonly sandbox: SandboxStatus | undefined;
  /** Runs by container name, newest first. */
  readonly runs: ReadonlyMap<string, readonly ContainerStatus[]>;
}

export function podView(
  pod: Pod,
  sandboxes: readonly SandboxStatus[],
  containers: readonly ContainerStatus[],
): PodView {
  const sandbox = [...sandboxes].sort((left, right) => right.attempt - left.attempt)[0];
  const runs = new Map<string, ContainerStatus[]>();
  for (const container of containers) {
    runs.set(container.name, [...(runs.get(container.name) ?? []), container]);
  }
  for (const list of runs.values()) {
    list.sort(
      (left, right) => right.attempt - left.attempt || right.createdAtMs - left.createdAtMs,
    );
  }
  return { pod, sandbox, runs };
}

export function latestRun(view: PodView, name: string): ContainerStatus | undefined {
  return view.runs.get(name)?.[0];
}

export function initContainersOf(pod: Pod): readonly Container[] {
  return pod.spec?.initContainers ?? [];
}

export function mainContainersOf(pod: Pod): readonly Container[] {
  return pod.spec?.containers ?? [];
}

/** Returns the ephemeral containers. Each runs at most once, regardless of the restart policy. */
export function ephemeralContainersOf(pod: Pod): readonly EphemeralContainer[] {
  return pod.spec?.ephemeralContainers ?? [];
}

/** Returns the containers of all kinds. */
export function allContainersOf(pod: Pod): readonly Container[] {
  return [...initContainersOf(pod), ...mainContainersOf(pod), ...ephemeralContainersOf(pod)];
}

/** Returns the container statuses of all kinds in the API. */
export function allStatusesOf({ status }: Pod): readonly ApiStatus[] {
  return [
    ...(status?.initContainerStatuses ?? []),
    ...(status?.containerStatuses ?? []),
    ...(status?.ephemeralContainerStatuses ?? []),
  ];
}

/** Whether the restart policy demands another run after `run` has ended. */
export function wantsRestart(pod: Pod, run: ContainerStatus, isInit: boolean): boolean {
  const policy = pod.spec?.restartPolicy ?? 'Always';
  const succeeded = run.exitCode === 0;
  if (isInit) return !succeeded && policy !== 'Never';
  return policy === 'Always' || (policy === 'OnFailure' && !succeeded);
}

/**
 * Whether all init containers have succeeded, or a main container has already run in the sandbox.
 */
export function isInitialized(view: PodView): boolean {
  const { pod, sandbox } = view;
  const inSandbox = (run: ContainerStatus | undefined) =>
    run !== undefined && (!sandbox || run.sandboxId === sandbox.id);
  if (mainContainersOf(pod).some(({ name }) => inSandbox(latestRun(view, name)))) return true;
  return initContainersOf(pod).every(({ name }) => {
    const run = latestRun(view, name);
    return inSandbox(run) && run?.state === 'exited' && run.exitCode === 0;
  });
}

/** Whether no container of the pod runs or will run again. */
export function isFinished(view: PodView): boolean {
  const { pod } = view;
  const initFailed = initContainersOf(pod).some(({ name }) => {
    const run = latestRun(view, name);
    return run?.state === 'exited' && run.exitCode !== 0 && !wantsRestart(pod, run, true);
  });
  if (initFailed) return !hasRunning(view);
  const main = mainContainersOf(pod);
  return (
    main.length > 0 &&
    main.every(({ name }) => {
      const run = latestRun(view, name);
      return run?.state === 'exited' && !wantsRestart(pod, run, false);
    })
  );
}

export function hasRunning(view: PodView): boolean {
  return runningRuns(view).length > 0;
}

export function runningRuns(view: PodView): ContainerStatus[] {
  return [...view.runs.values()].flat().filter(({ state }) => state === 'running');
}

/** Whether the phase of the pod is final. */
export function hasEnded(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

/** Returns the address of the pod in the API; empty if it has none. */
export function podIpOf({ pod, sandbox }: PodView, hostIp: string): string {
  if (pod.spec?.hostNetwork) return sandbox ? hostIp : '';
  // A stopped sandbox has released its address, but the status still contains it.
  return sandbox?.podIp ?? pod.status?.podIP ?? '';
}

/**
 * Returns the address that programs in the pod listen on, and at which the agent connects to them.
 */
export function localIpOf(view: PodView, hostIp: string): string {
  return view.sandbox?.localIp ?? podIpOf(view, hostIp);
}
