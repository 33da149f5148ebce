/**
 * The status of a pod on a hollow node: that of a real agent, computed from containers that exist
 * only here. Pure.
 */
import type { Pod, PodStatus } from '@orch/types/core/v1';
import { podStatus } from '../pods/pod-status.js';
import { initContainersOf, mainContainersOf, type PodView, podIpOf } from '../pods/pod-view.js';
import type { ContainerId, ContainerStatus, SandboxId } from '../runtimes/container-runtime.js';

/** The scheme of the ids of containers. */
export const hollowRuntimeName = 'hollow';

export interface HollowContainers {
  /** Wall times; undefined before the start, and before the end. */
  readonly startedAtMs: number | undefined;
  readonly finishedAtMs: number | undefined;
  readonly isReady: boolean;
  /** Undefined until the pod has an address. */
  readonly podIp: string | undefined;
}

export function hollowPodStatus(
  pod: Pod,
  containers: HollowContainers,
  { nowMs, hostIp }: { readonly nowMs: number; readonly hostIp: string },
): PodStatus {
  const view = viewOf(pod, containers);
  const podIp = podIpOf(view, hostIp);
  return podStatus(view, {
    runtimeName: hollowRuntimeName,
    nowMs,
    hostIp,
    ...(podIp === '' ? {} : { podIp }),
    probe: () => (containers.isReady ? 'success' : undefined),
    waiting: () => undefined,
    isStarting: () => false,
    terminationMessage: () => '',
  });
}

function viewOf(pod: Pod, { startedAtMs, finishedAtMs, podIp }: HollowContainers): PodView {
  if (startedAtMs === undefined) return { pod, sandbox: undefined, runs: new Map() };
  const { uid = '', namespace = '', name = '' } = pod.metadata ?? {};
  const sandboxId = uid as SandboxId;
  const identity = { uid, namespace, name };
  const run = (container: { name?: string; image?: string }, endMs: number | undefined) => {
    const status: ContainerStatus = {
      id: `${uid}-${container.name}` as ContainerId,
      sandboxId,
      pod: identity,
      name: container.name ?? '',
      attempt: 0,
      state: endMs === undefined ? 'running' : 'exited',
      createdAtMs: startedAtMs,
      startedAtMs,
      ...(endMs === undefined ? {} : { finishedAtMs: endMs, exitCode: 0, reason: 'Completed' }),
      image: container.image ?? '',
      imageRef: `${hollowRuntimeName}://${container.image ?? ''}`,
      logPath: '',
      annotations: {},
    };
    return [status.name, [status]] as const;
  };
  const sandbox = {
    id: sandboxId,
    pod: identity,
    attempt: 0,
    state: 'ready' as const,
    createdAtMs: startedAtMs,
    ...(podIp === undefined ? {} : { podIp }),
  };
  const init = initContainersOf(pod).map((container) => run(container, startedAtMs));
  const main = mainContainersOf(pod).map((container) => run(container, finishedAtMs));
  return { pod, sandbox, runs: new Map([...init, ...main]) };
}
