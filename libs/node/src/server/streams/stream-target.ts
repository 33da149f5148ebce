/**
 * Resolves the path and query of the streaming endpoints to a pod, a container and a command
 * request.
 */
import { type CommandRequest, parsePort } from '@orch/streaming';
import type { Container, Pod } from '@orch/types/core/v1';
import { allContainersOf } from '../../pods/pod-view.js';
import type { PodWorkers } from '../../pods/pod-workers.js';
import type {
  ContainerRuntime,
  ContainerStatus,
  SandboxId,
} from '../../runtimes/container-runtime.js';
import { HttpError } from '../request/http-error.js';

export interface StreamDependencies {
  readonly runtime: ContainerRuntime;
  readonly workers: Pick<PodWorkers, 'find'>;
}

export interface RunningContainer {
  readonly status: ContainerStatus;
  readonly container: Container;
}

/**
 * Returns the pod of `[namespace, pod, ...]`; more names than `nameCount` include the uid as third.
 */
function podOf({ workers }: StreamDependencies, names: readonly string[], nameCount: number): Pod {
  const [namespace = '', name = ''] = names;
  const pod = workers.find(namespace, name);
  const uid = names.length > nameCount ? names[2] : undefined;
  if (!pod || (uid !== undefined && pod.metadata?.uid !== uid)) {
    throw new HttpError(404, `pod "${name}" not found in namespace "${namespace}"`);
  }
  return pod;
}

/**
 * Returns the running container of `[namespace, pod, container]` or `[namespace, pod, uid,
 * container]`.
 */
export async function findRunningContainer(
  dependencies: StreamDependencies,
  names: readonly string[],
): Promise<RunningContainer> {
  if (names.length < 3 || names.length > 4) throw new HttpError(404, '404 page not found');
  const pod = podOf(dependencies, names, 3);
  const wanted = names.at(-1)!;
  const container = allContainersOf(pod).find(({ name }) => name === wanted);
  const runs = container ? await dependencies.runtime.listContainers(pod.metadata?.uid) : [];
  const status = runs.find(({ name, state }) => name === wanted && state === 'running');
  if (!container || !status) throw new HttpError(404, `container not found ("${wanted}")`);
  return { status, container };
}

/** Returns the sandbox of `[namespace, pod]` or `[namespace, pod, uid]`. */
export async function findSandbox(
  dependencies: StreamDependencies,
  names: readonly string[],
): Promise<SandboxId> {
  if (names.length < 2 || names.length > 3) throw new HttpError(404, '404 page not found');
  const pod = podOf(dependencies, names, 2);
  const sandboxes = await dependencies.runtime.listSandboxes(pod.metadata?.uid);
  const ready = sandboxes.find(({ state }) => state === 'ready');
  if (!ready) throw new HttpError(404, `pod "${pod.metadata?.name}" is not running`);
  return ready.id;
}

/** Parses the requested streams. A terminal merges both outputs, so there is no stderr. */
export function parseCommandRequest(parameters: URLSearchParams): CommandRequest {
  const flag = (name: string) => ['1', 'true'].includes(parameters.get(name) ?? '');
  const tty = flag('tty');
  const request = {
    stdin: flag('input'),
    stdout: flag('output'),
    stderr: flag('error') && !tty,
    tty,
  };
  if (!request.stdin && !request.stdout && !request.stderr) {
    throw new HttpError(400, 'you must specify at least 1 of stdin, stdout, stderr');
  }
  return request;
}

export function parsePorts(parameters: URLSearchParams): number[] {
  const texts = parameters.getAll('port').flatMap((value) => value.split(','));
  return texts.map((text) => {
    const port = parsePort(text);
    if (port === undefined) throw new HttpError(400, `"${text}" is not a port number`);
    return port;
  });
}
