/** What a path and query of the agent's streaming endpoints ask for, and the pod and container they mean. */
import { type CommandRequest, parsePort } from '@orch/streaming';
import type { Container, Pod } from '@orch/types/core/v1';
import { allContainersOf } from '../../pods/pod-view.js';
import type { PodWorkers } from '../../pods/pod-workers.js';
import type {
  ContainerRuntime,
  ContainerStatus,
  SandboxId,
} from '../../runtimes/container-runtime.js';
import { Refusal } from '../refusal.js';

export interface StreamParts {
  readonly runtime: ContainerRuntime;
  readonly workers: PodWorkers;
}

export interface RunningContainer {
  readonly status: ContainerStatus;
  readonly container: Container;
}

/** The pod of `/<endpoint>/<namespace>/<pod>[/<uid>]...`; the uid only where `nameCount` names follow it. */
function podOf({ workers }: StreamParts, names: readonly string[], nameCount: number): Pod {
  const [namespace = '', name = ''] = names;
  const pod = workers.find(namespace, name);
  const uid = names.length > nameCount ? names[2] : undefined;
  if (!pod || (uid !== undefined && pod.metadata?.uid !== uid)) {
    throw new Refusal(404, `pod "${name}" not found in namespace "${namespace}"`);
  }
  return pod;
}

/** The running container that `[namespace, pod, container]`, or `[..., uid, container]`, names. */
export async function containerOf(
  parts: StreamParts,
  names: readonly string[],
): Promise<RunningContainer> {
  if (names.length < 3 || names.length > 4) throw new Refusal(404, '404 page not found');
  const pod = podOf(parts, names, 3);
  const wanted = names.at(-1)!;
  const container = allContainersOf(pod).find(({ name }) => name === wanted);
  const runs = container ? await parts.runtime.listContainers(pod.metadata?.uid) : [];
  const status = runs.find(({ name, state }) => name === wanted && state === 'running');
  if (!container || !status) throw new Refusal(404, `container not found ("${wanted}")`);
  return { status, container };
}

/** The sandbox of `[namespace, pod]`, or `[..., uid]`. */
export async function sandboxOf(parts: StreamParts, names: readonly string[]): Promise<SandboxId> {
  if (names.length < 2 || names.length > 3) throw new Refusal(404, '404 page not found');
  const pod = podOf(parts, names, 2);
  const sandboxes = await parts.runtime.listSandboxes(pod.metadata?.uid);
  const ready = sandboxes.find(({ state }) => state === 'ready');
  if (!ready) throw new Refusal(404, `pod "${pod.metadata?.name}" is not running`);
  return ready.id;
}

/** Which streams are wanted. A terminal mixes both outputs: there is no second one then. */
export function commandRequest(parameters: URLSearchParams): CommandRequest {
  const flag = (name: string) => ['1', 'true'].includes(parameters.get(name) ?? '');
  const tty = flag('tty');
  const request = {
    stdin: flag('input'),
    stdout: flag('output'),
    stderr: flag('error') && !tty,
    tty,
  };
  if (!request.stdin && !request.stdout && !request.stderr) {
    throw new Refusal(400, 'you must specify at least 1 of stdin, stdout, stderr');
  }
  return request;
}

export function portsOf(parameters: URLSearchParams): number[] {
  const texts = parameters.getAll('port').flatMap((value) => value.split(','));
  return texts.map((text) => {
    const port = parsePort(text);
    if (port === undefined) throw new Refusal(400, `"${text}" is no port`);
    return port;
  });
}
