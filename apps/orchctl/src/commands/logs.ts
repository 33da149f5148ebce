/** `orchctl logs`: the log of a container of a pod, or of a pod of a workload. */
import { isNotFound, resources } from '@orch/client';
import type { Pod } from '@orch/types/core/v1';
import type { Configure } from '../lib/context.js';
import { CliError, UsageError } from '../lib/errors.js';
import { durationMs, type Session } from '../lib/session.js';
import { podFor } from '../lib/streams/pod-target.js';

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
    .argument('[resource]', 'POD, pod/NAME, deployment/NAME, ...: of a workload one pod is taken')
    .argument('[container]', 'the same as -c')
    .option('-c, --container <name>', 'container of the pod; its first one when left out')
    .option('-f, --follow', 'go on printing as lines are written, until the container ends')
    .option('-p, --previous', 'the run before the last restart')
    .option('--timestamps', 'the time in front of each line')
    .option('--tail <count>', 'only so many last lines; -1 is all', '-1')
    .option('--since <duration>', 'only lines younger than this, such as 5m')
    .option('--since-time <time>', 'only lines after this RFC 3339 time')
    .option('--limit-bytes <count>', 'stop after so many bytes')
    .option('--all-containers', 'the logs of all containers, one after another')
    .option('--prefix', 'pod and container in front of each line')
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

function wholeNumber(flag: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value)) throw new UsageError(`${flag}: want a whole number, got ${text}`);
  return value;
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
  if (!resource) throw new UsageError('say whose log: POD, or TYPE/NAME');
  return [await podFor(session, resource)];
}

function containersFor(
  pod: Pod,
  wanted: string | undefined,
  options: LogsOptions,
  note: (text: string) => void,
): string[] {
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const names = [...initContainers, ...containers].map((one) => one.name ?? '');
  if (options.allContainers) return names;
  if (wanted) {
    if (names.includes(wanted)) return [wanted];
    throw new CliError(
      `container ${wanted} is not valid for pod ${pod.metadata?.name}, has: ${names.join(', ')}`,
    );
  }
  const first = containers[0]?.name ?? '';
  if (containers.length > 1) {
    const all = containers.map((one) => one.name).join(', ');
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
