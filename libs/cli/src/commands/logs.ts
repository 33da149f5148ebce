/** `orchctl logs`: prints the logs of containers of a pod, or of one pod of a workload. */

import { isNotFound, resources } from '@orch/client';
import type { Pod } from '@orch/types/core/v1';
import { CliError, UsageError } from '../command-line/errors.js';
import { durationMs, wholeNumber } from '../command-line/option-values.js';
import type { Configure } from '../session/command-context.js';
import type { Session } from '../session/session.js';
import { podFor } from '../streams/pod-target.js';

interface LogsOptions {
  readonly container?: string;
  readonly follow?: boolean;
  readonly previous?: boolean;
  readonly timestamps?: boolean;
  readonly tail: string;
  readonly since?: string;
  readonly sinceTime?: string;
  readonly limitBytes?: string;
  readonly allContainers?: boolean;
  readonly prefix?: boolean;
  readonly selector?: string;
}

export const configureLogs: Configure = (command, context) => {
  command
    .argument('[resource]', 'POD, pod/NAME, deployment/NAME, ...; one pod of a workload is chosen')
    .argument('[container]', 'the same as -c')
    .option('-c, --container <name>', 'container of the pod; default: the first one')
    .option('-f, --follow', 'stream new lines until the container terminates')
    .option('-p, --previous', 'the logs before the last restart')
    .option('--timestamps', 'prefix each line with its time')
    .option('--tail <count>', 'number of last lines; -1 means all', '-1')
    .option('--since <duration>', 'only lines newer than this, such as 5m')
    .option('--since-time <time>', 'only lines after this RFC 3339 time')
    .option('--limit-bytes <count>', 'longest output in bytes')
    .option('--all-containers', 'the logs of all containers, sequentially')
    .option('--prefix', 'prefix each line with pod and container')
    .option('-l, --selector <query>', 'the logs of all pods with these labels')
    .action(
      async (resource: string | undefined, container: string | undefined, options: LogsOptions) => {
        const query = logQuery(options);
        const session = await context.session();
        const pods = await podsFor(resource, options, session);
        for (const pod of pods) {
          const names = containersFor(pod, options.container ?? container, options, context.io.err);
          for (const name of names) {
            const prefix = options.prefix ? `[pod/${pod.metadata?.name}/${name}] ` : '';
            await printLog(session, pod, { ...query, container: name }, prefix, context.io.out);
          }
        }
      },
    );
};

function logQuery(options: LogsOptions) {
  if (options.since && options.sinceTime) {
    throw new UsageError('give only one of --since and --since-time');
  }
  const tail = wholeNumber('--tail', options.tail);
  const since = options.since && Math.ceil(durationMs('--since', options.since) / 1_000);
  return {
    follow: options.follow,
    previous: options.previous,
    timestamps: options.timestamps,
    tailLines: tail < 0 ? undefined : tail,
    sinceSeconds: since || undefined,
    sinceTime: options.sinceTime,
    limitBytes:
      options.limitBytes === undefined
        ? undefined
        : wholeNumber('--limit-bytes', options.limitBytes),
  };
}

async function podsFor(
  resource: string | undefined,
  options: LogsOptions,
  session: Session,
): Promise<Pod[]> {
  const pods = session.client.resource(resources.pods, session.namespace);
  if (options.selector) {
    if (resource) throw new UsageError('selectors may not be given together with names');
    return (await pods.listAll({ labelSelector: options.selector })).items;
  }
  if (!resource) throw new UsageError('no pod: give POD, TYPE/NAME or -l');
  return [await podFor(session, resource)];
}

function containersFor(
  pod: Pod,
  requested: string | undefined,
  options: LogsOptions,
  note: (text: string) => void,
): string[] {
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const names = [...initContainers, ...containers].map((container) => container.name ?? '');
  if (options.allContainers) return names;
  if (requested) {
    if (names.includes(requested)) return [requested];
    throw new CliError(
      `container ${requested} is not valid for pod ${pod.metadata?.name}, has: ${names.join(', ')}`,
    );
  }
  const first = containers[0]?.name ?? '';
  if (containers.length > 1) {
    const all = containers.map((container) => container.name).join(', ');
    note(`Defaulted container "${first}" out of: ${all}\n`);
  }
  return [first];
}

async function printLog(
  session: Session,
  pod: Pod,
  query: Record<string, string | number | boolean | undefined>,
  prefix: string,
  out: (text: string) => void,
): Promise<void> {
  const { name = '', namespace } = pod.metadata ?? {};
  const log = session.client.resource(resources.pods, namespace).subresource(name, 'log');
  const response = await log.stream(query).catch((error: unknown) => {
    if (isNotFound(error)) throw new CliError(`pod ${name} is gone`);
    throw error;
  });
  const decoder = new TextDecoder();
  let atLineStart = true;
  for await (const chunk of response.body) {
    const text = decoder.decode(chunk, { stream: true });
    if (prefix === '') out(text);
    else {
      const start = atLineStart ? prefix : '';
      out(start + text.replace(/\n(?=.)/gs, `\n${prefix}`));
      atLineStart = text.endsWith('\n');
    }
  }
}
