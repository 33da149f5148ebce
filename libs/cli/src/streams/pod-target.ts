/** The pod and container of a command line: `POD`, `TYPE/NAME`, `-c`. */
import { collectionPath, resources } from '@orch/client';
import type { Pod } from '@orch/types/core/v1';
import { CliError } from '../command-line/errors.js';
import { selectionsOf } from '../resources/selection.js';
import { podsOf } from '../resources/workload-pods.js';
import type { Session } from '../session/session.js';

/** The named pod, or one pod of the named workload: a running one if there is any. */
export async function podFor(session: Session, resource: string): Promise<Pod> {
  const pods = session.client.resource(resources.pods, session.namespace);
  if (!resource.includes('/')) return pods.get(resource);
  const [selection] = await selectionsOf([resource], session.catalog);
  const { type, names } = selection!;
  if (type.kind === 'Pod' && type.groupName === '') return pods.get(names[0]!);
  const found = await podsOf(session, type, names[0]!);
  const pod = found.find((candidate) => candidate.status?.phase === 'Running') ?? found[0];
  if (!pod) throw new CliError(`${resource} has no pods`);
  return pod;
}

/**
 * The name of the container. Throws CliError if the pod has no such container or has terminated.
 */
export function containerFor(
  pod: Pod,
  requested: string | undefined,
  note: (text: string) => void,
): string {
  const phase = pod.status?.phase ?? '';
  if (phase === 'Succeeded' || phase === 'Failed') {
    throw new CliError(`the pod has terminated; its phase is ${phase}`);
  }
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const names = [...initContainers, ...containers].map((container) => container.name ?? '');
  if (requested) {
    if (names.includes(requested)) return requested;
    const all = names.join(', ');
    throw new CliError(
      `container ${requested} is not valid for pod ${pod.metadata?.name}, has: ${all}`,
    );
  }
  const first = containers[0]?.name ?? '';
  if (containers.length > 1) {
    const all = containers.map((container) => container.name).join(', ');
    note(`Defaulted container "${first}" out of: ${all}\n`);
  }
  return first;
}

/** The path of a subresource of the pod. */
export function podPath(pod: Pod, subresource: string, query: URLSearchParams): string {
  const { name = '', namespace = '' } = pod.metadata ?? {};
  const collection = collectionPath(resources.pods, namespace);
  const path = `${collection}/${encodeURIComponent(name)}/${subresource}`;
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** The query parameters of exec and attach. */
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
