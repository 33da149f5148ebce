/**
 * `orchctl wait --for=condition=X|delete|jsonpath=PATH=VALUE`: waits until objects meet a
 * condition.
 */

import {
  type ApiObject,
  isGone,
  isNotFound,
  isWatchInterrupted,
  type ResourceClient,
} from '@orch/client';
import { systemClock } from '@orch/component';
import { CliError, TimeoutError, UsageError } from '../command-line/errors.js';
import { durationMs } from '../command-line/option-values.js';
import { parsePath } from '../output/json-path.js';
import { type PendingDeletion, waitUntilGone } from '../resources/deletion.js';
import { place, titleOf } from '../resources/manifest-target.js';
import { readManifests } from '../resources/manifests.js';
import { Pace } from '../resources/pace.js';
import { addSelectorFlags, readObjects, type SelectorOptions } from '../resources/requests.js';
import { selectionsOf } from '../resources/selection.js';
import type { Configure } from '../session/command-context.js';
import type { Session } from '../session/session.js';

interface WaitOptions extends SelectorOptions {
  readonly for: string;
  readonly filename?: string[];
  readonly recursive?: boolean;
  readonly all?: boolean;
  readonly timeout: string;
}

type Predicate = (object: ApiObject) => boolean;
type WaitCondition =
  | { readonly kind: 'delete' }
  | { readonly kind: 'state'; readonly holds: Predicate };

interface Waiting {
  readonly client: ResourceClient<ApiObject>;
  readonly object: ApiObject;
  readonly title: string;
}

/** The wait of a negative timeout. */
const waitMaxMs = 7 * 24 * 3_600_000;

export const configureWait: Configure = (command, context) => {
  addSelectorFlags(
    command.argument('[resources...]', 'TYPE NAME..., TYPE/NAME..., or TYPE with -l or --all'),
  )
    .requiredOption(
      '--for <condition>',
      'delete, condition=NAME[=VALUE] (default VALUE: true), or jsonpath=PATH=VALUE',
    )
    .option(
      '-f, --filename <file...>',
      'the objects in files, directories, or - for standard input',
    )
    .option('-R, --recursive', 'search directories recursively')
    .option('--all', 'every resource of the type in the namespace')
    .option(
      '--timeout <duration>',
      'longest wait, after which the exit code is 124; 0 checks once',
      '30s',
    )
    .action(async (args: string[], options: WaitOptions) => {
      const condition = waitConditionOf(options.for);
      const givenMs = durationMs('--timeout', options.timeout);
      const timeoutMs = givenMs < 0 ? waitMaxMs : givenMs;
      const session = await context.session();
      const waiting = options.filename
        ? await waitingInFiles(options, session, context.io)
        : await waitingFor(args, options, condition, session);
      if (condition.kind === 'delete') {
        await waitForDeletion(waiting, timeoutMs, context.io.out);
        return;
      }
      if (waiting.length === 0) throw new CliError('no matching resources found');
      const deadlineMs = systemClock.monotonicMs() + timeoutMs;
      for (const target of waiting) {
        await waitForState(target, condition.holds, deadlineMs, options.for);
        context.io.out(`${target.title} condition met\n`);
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
    const deletion: PendingDeletion = {
      client,
      name: object.metadata?.name ?? '',
      uid: object.metadata?.uid,
      title,
    };
    await waitUntilGone([deletion], timeoutMs - (systemClock.monotonicMs() - startMs));
    out(`${title} condition met\n`);
  }
}

function waitConditionOf(text: string): WaitCondition {
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
      (entry) => entry.type.toLowerCase() === type.toLowerCase(),
    );
    if (!condition) return false;
    const generation = object.metadata?.generation;
    const observed = condition.observedGeneration ?? object.status?.observedGeneration;
    if (observed !== undefined && generation !== undefined && observed < generation) return false;
    return condition.status.toLowerCase() === status.toLowerCase();
  };
}

/** The predicate of `PATH=VALUE`, or of `PATH`, which holds if the path finds a value. */
function pathPredicate(text: string): Predicate {
  const match = /^(\{.*\}|[^=]*)(?:=(.*))?$/s.exec(text);
  const path = parsePath(match?.[1] ?? text);
  const expected = match?.[2];
  return (object) => {
    const [value] = path.find(object);
    if (expected === undefined) return value !== undefined;
    return value !== undefined && String(value) === expected.replace(/^(["'])(.*)\1$/, '$2');
  };
}

async function waitingFor(
  args: readonly string[],
  options: WaitOptions,
  condition: WaitCondition,
  session: Session,
): Promise<Waiting[]> {
  const waiting: Waiting[] = [];
  for (const { type, names } of await selectionsOf(args, session.catalog)) {
    if (names.length === 0 && !options.selector && !options.fieldSelector && !options.all) {
      throw new UsageError('no objects to wait for: give names, -l, --field-selector or --all');
    }
    const objects =
      names.length === 0
        ? await readObjects(session, type, [], options)
        : (await Promise.all(names.map((name) => readIfThere(name, condition)))).flat();
    for (const object of objects) waiting.push(waitingOn(session, type, object));

    async function readIfThere(name: string, { kind }: WaitCondition): Promise<ApiObject[]> {
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

/** Lists, then watches from the resource version of the list. If the watch ends, it lists again. */
async function waitForState(
  { client, object, title }: Waiting,
  holds: Predicate,
  deadlineMs: number,
  condition: string,
): Promise<void> {
  const name = object.metadata?.name ?? '';
  const timedOut = new TimeoutError(`timed out waiting for ${condition} on ${title}`);
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
    if (ended === 'deleted')
      throw new CliError(`${title} was deleted while waiting for ${condition}`);
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
  const timer = systemClock.setTimer(timeoutMs, () => stop.abort(new Error('the wait timed out')));
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
