/** The pod and container that a command line means: `POD`, `TYPE/NAME`, `-c`. */
import { collectionPath, resources } from '@orch/client';
import type { Pod } from '@orch/types/core/v1';
import { selectionsOf } from '../arguments.js';
import { CliError } from '../errors.js';
import { podsOf } from '../pods-of.js';
import type { Session } from '../session.js';

/** Of a workload one pod is taken, a running one if there is any. */
export async function podFor(session: Session, resource: string): Promise<Pod> {
  const pods = session.client.resource(resources.pods, session.namespace);
  if (!resource.includes('/')) return pods.get(resource);
  const [selection] = await selectionsOf([resource], session.catalog);
  const { type, names } = selection!;
  if (type.kind === 'Pod' && type.groupName === '') return pods.get(names[0]!);
  const found = await podsOf(session, type, names[0]!);
  const pod = found.find((one) => one.status?.phase === 'Running') ?? found[0];
  if (!pod) throw new CliError(`${resource} has no pods`);
  return pod;
}

/** Throws CliError for a container that the pod does not have, and for a pod that is over. */
export function containerFor(
  pod: Pod,
  wanted: string | undefined,
  note: (text: string) => void,
): string {
  const phase = pod.status?.phase ?? '';
  if (phase === 'Succeeded' || phase === 'Failed') {
    throw new CliError(`the pod is over; its phase is ${phase}`);
  }
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const names = [...initContainers, ...containers].map((one) => one.name ?? '');
  if (wanted) {
    if (names.includes(wanted)) return wanted;
    const all = names.join(', ');
    throw new CliError(
      `container ${wanted} is not valid for pod ${pod.metadata?.name}, has: ${all}`,
    );
  }
  const first = containers[0]?.name ?? '';
  if (containers.length > 1) {
    const all = containers.map((one) => one.name).join(', ');
    note(`Defaulted container "${first}" out of: ${all}\n`);
  }
  return first;
}

/** Path of a subresource of the pod. */
export function podPath(pod: Pod, subresource: string, query: URLSearchParams): string {
  const { name = '', namespace = '' } = pod.metadata ?? {};
  const collection = collectionPath(resources.pods, namespace);
  const path = `${collection}/${encodeURIComponent(name)}/${subresource}`;
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** The parameters of exec and attach. */
export function commandQuery(
  container: string,
  streams: { readonly stdin: boolean; readonly tty: boolean },
  command: readonly string[] = [],
): URLSearchParams {
  const query = new URLSearchParams({ container, stdout: 'true' });
  for (const word of command) query.append('command', word);
  if (streams.stdin) query.set('stdin', 'true');
  query.set(streams.tty ? 'tty' : 'stderr', 'true');
  return query;
}
