/** `orchctl wait --for=condition=X|delete|jsonpath=PATH=VALUE`: watches until it is so. */
import {
  type ApiObject,
  isGone,
  isNotFound,
  isWatchInterrupted,
  type ResourceClient,
} from '@orch/client';
import { systemClock } from '@orch/component';
import { type Leaving, waitUntilGone } from '../lib/absence.js';
import { selectionsOf } from '../lib/arguments.js';
import type { Configure } from '../lib/context.js';
import { CliError, TimeoutError, UsageError } from '../lib/errors.js';
import { evaluate, parsePath } from '../lib/json-path.js';
import { readManifests } from '../lib/manifests.js';
import { Pace } from '../lib/pace.js';
import { place, titleOf } from '../lib/placing.js';
import { addSelectorFlags, readObjects, type SelectorOptions } from '../lib/requests.js';
import { durationMs, type Session } from '../lib/session.js';

interface WaitOptions extends SelectorOptions {
  readonly for: string;
  readonly filename?: string[];
  readonly recursive?: boolean;
  readonly all?: boolean;
  readonly timeout: string;
}

type Predicate = (object: ApiObject) => boolean;
type Aim = { readonly kind: 'delete' } | { readonly kind: 'state'; readonly holds: Predicate };

interface Waiting {
  readonly client: ResourceClient<ApiObject>;
  readonly object: ApiObject;
  readonly title: string;
}

/** A negative timeout means a week. */
const waitMaxMs = 7 * 24 * 3_600_000;

export const configureWait: Configure = (command, context) => {
  addSelectorFlags(
    command.argument('[resources...]', 'TYPE NAME..., TYPE/NAME..., or TYPE with -l or --all'),
  )
    .requiredOption(
      '--for <aim>',
      'delete, condition=NAME[=VALUE] (VALUE is true when left out), or jsonpath=PATH=VALUE',
    )
    .option('-f, --filename <file...>', 'the objects of files, folders, or - for standard input')
    .option('-R, --recursive', 'look through folders of folders')
    .option('--all', 'every resource of the type in the namespace')
    .option(
      '--timeout <duration>',
      'longest wait; then the exit code is 124; 0 only looks once',
      '30s',
    )
    .action(async (args: string[], options: WaitOptions) => {
      const aim = aimOf(options.for);
      const givenMs = durationMs('--timeout', options.timeout);
      const timeoutMs = givenMs < 0 ? waitMaxMs : givenMs;
      const session = await context.session();
      const waiting = options.filename
        ? await waitingInFiles(options, session, context.io)
        : await waitingFor(args, options, aim, session);
      if (aim.kind === 'delete') {
        await waitForDeletion(waiting, timeoutMs, context.io.out);
        return;
      }
      if (waiting.length === 0) throw new CliError('no matching resources found');
      const deadlineMs = systemClock.monotonicMs() + timeoutMs;
      for (const one of waiting) {
        await waitForState(one, aim.holds, deadlineMs, options.for);
        context.io.out(`${one.title} condition met\n`);
      }
    });
};

async function waitForDeletion(
  waiting: readonly Waiting[],
  timeoutMs: number,
  out: (text: string) => void,
): Promise<void> {
  const startMs = systemClock.monotonicMs();
  for (const { client, object, title } of waiting) {
    const leaving: Leaving = {
      client,
      name: object.metadata?.name ?? '',
      uid: object.metadata?.uid,
      title,
    };
    await waitUntilGone([leaving], timeoutMs - (systemClock.monotonicMs() - startMs));
    out(`${title} condition met\n`);
  }
}

function aimOf(text: string): Aim {
  if (text.toLowerCase() === 'delete') return { kind: 'delete' };
  const [word = '', ...rest] = text.split('=');
  if (word === 'condition' && rest[0]) {
    return { kind: 'state', holds: conditionPredicate(rest[0], rest.slice(1).join('=') || 'true') };
  }
  if (word === 'jsonpath' && rest.length > 0)
    return { kind: 'state', holds: pathPredicate(rest.join('=')) };
  throw new UsageError(
    `--for: want delete, condition=NAME[=VALUE] or jsonpath=PATH=VALUE, got ${text}`,
  );
}

interface Conditions extends ApiObject {
  readonly status?: {
    readonly observedGeneration?: number;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly observedGeneration?: number;
    }[];
  };
}

function conditionPredicate(type: string, status: string): Predicate {
  return (object: Conditions) => {
    const condition = object.status?.conditions?.find(
      (one) => one.type.toLowerCase() === type.toLowerCase(),
    );
    if (!condition) return false;
    const generation = object.metadata?.generation;
    const observed = condition.observedGeneration ?? object.status?.observedGeneration;
    if (observed !== undefined && generation !== undefined && observed < generation) return false;
    return condition.status.toLowerCase() === status.toLowerCase();
  };
}

/** `{.status.phase}=Running`; without a value: the path leads somewhere. */
function pathPredicate(text: string): Predicate {
  const match = /^(\{.*\}|[^=]*)(?:=(.*))?$/s.exec(text);
  const path = parsePath(match?.[1] ?? text);
  const wanted = match?.[2];
  return (object) => {
    const [value] = evaluate(path, object);
    if (wanted === undefined) return value !== undefined;
    return value !== undefined && String(value) === wanted.replace(/^(["'])(.*)\1$/, '$2');
  };
}

async function waitingFor(
  args: readonly string[],
  options: WaitOptions,
  aim: Aim,
  session: Session,
): Promise<Waiting[]> {
  const waiting: Waiting[] = [];
  for (const { type, names } of await selectionsOf(args, session.catalog)) {
    if (names.length === 0 && !options.selector && !options.fieldSelector && !options.all) {
      throw new UsageError(
        'name what to wait for, or select it with -l, --field-selector or --all',
      );
    }
    const objects =
      names.length === 0
        ? await readObjects(session, type, [], options)
        : (await Promise.all(names.map((name) => readIfThere(name, aim)))).flat();
    for (const object of objects) waiting.push(waitingOn(session, type, object));

    async function readIfThere(name: string, { kind }: Aim): Promise<ApiObject[]> {
      try {
        return await readObjects(session, type, [name], options);
      } catch (error) {
        if (kind === 'delete' && isNotFound(error)) return [];
        throw error;
      }
    }
  }
  return waiting;
}

function waitingOn(
  session: Session,
  type: Parameters<typeof titleOf>[0],
  object: ApiObject,
): Waiting {
  const namespace = type.namespaced ? object.metadata?.namespace : undefined;
  return {
    client: session.client.resource(type, namespace),
    object,
    title: titleOf(type, object),
  };
}

async function waitingInFiles(
  options: WaitOptions,
  session: Session,
  io: Parameters<typeof readManifests>[2],
): Promise<Waiting[]> {
  const manifests = await readManifests(options.filename ?? [], options.recursive ?? false, io);
  return Promise.all(
    manifests.map(async (manifest) => {
      const { client, object, title } = await place(manifest, session);
      return { client, object, title };
    }),
  );
}

/** Reads, then watches from there; a watch that ends is begun again from a new read. */
async function waitForState(
  { client, object, title }: Waiting,
  holds: Predicate,
  deadlineMs: number,
  aim: string,
): Promise<void> {
  const name = object.metadata?.name ?? '';
  const timedOut = new TimeoutError(`timed out waiting for ${aim} on ${title}`);
  const pace = new Pace();
  for (;;) {
    await pace.turn();
    const list = await client.list({ fieldSelector: `metadata.name=${name}` });
    const current = list.items[0];
    if (!current) throw new CliError(`${title} does not exist`);
    if (holds(current)) return;
    const remainingMs = deadlineMs - systemClock.monotonicMs();
    if (remainingMs <= 0) throw timedOut;
    const ended = await watchOnce(client, name, list.metadata.resourceVersion, holds, remainingMs);
    if (ended === 'met') return;
    if (ended === 'deleted') throw new CliError(`${title} was deleted while waiting for ${aim}`);
    if (systemClock.monotonicMs() >= deadlineMs) throw timedOut;
  }
}

async function watchOnce(
  client: ResourceClient<ApiObject>,
  name: string,
  resourceVersion: string | undefined,
  holds: Predicate,
  timeoutMs: number,
): Promise<'met' | 'deleted' | 'ended'> {
  const stop = new AbortController();
  const timer = systemClock.setTimer(timeoutMs, () => stop.abort(new Error('the wait is over')));
  try {
    const fieldSelector = `metadata.name=${name}`;
    const watch = client.watch({ fieldSelector, resourceVersion, signal: stop.signal });
    for await (const { type, object } of watch) {
      if (type === 'DELETED') return 'deleted';
      if (type !== 'BOOKMARK' && holds(object)) return 'met';
    }
    return 'ended';
  } catch (error) {
    if (stop.signal.aborted || isGone(error) || isWatchInterrupted(error)) return 'ended';
    throw error;
  } finally {
    timer.cancel();
    stop.abort();
  }
}
