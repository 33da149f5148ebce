/**
 * `orchctl delete`: deletes objects by file, name, selector or all, and waits until they are gone.
 */

import { type ApiObject, type DeleteOptions as DeleteCall, isNotFound } from '@orch/client';
import { booleanOption } from '../command-line/boolean-option.js';
import { type DryRunMode, dryRunMode, dryRunNote } from '../command-line/dry-run.js';
import { errorLine, PartialFailure, UsageError } from '../command-line/errors.js';
import { durationMs } from '../command-line/option-values.js';
import { type PendingDeletion, waitUntilGone } from '../resources/deletion.js';
import { place, titleOf } from '../resources/manifest-target.js';
import { readManifests } from '../resources/manifests.js';
import type { SelectorOptions } from '../resources/requests.js';
import {
  addSelectorFlags,
  itemsOf,
  namespaceFor,
  refuseSelectors,
  selectorQuery,
} from '../resources/requests.js';
import { selectionsOf } from '../resources/selection.js';
import type { ResourceType } from '../session/catalog.js';
import type { CommandContext, Configure } from '../session/command-context.js';
import type { Session } from '../session/session.js';

interface DeleteOptions extends SelectorOptions {
  readonly filename?: string[];
  readonly recursive?: boolean;
  readonly all?: boolean;
  readonly cascade: string;
  readonly gracePeriod?: string;
  readonly now?: boolean;
  readonly force?: boolean;
  readonly wait: boolean;
  readonly timeout: string;
  readonly ignoreNotFound?: boolean;
  readonly dryRun?: string | true;
  readonly output?: string;
}

interface Target {
  readonly type: ResourceType;
  readonly name: string;
  readonly namespace: string | undefined;
}

const cascades = { background: 'Background', foreground: 'Foreground', orphan: 'Orphan' } as const;

/** The wait of `--timeout=0`. */
const waitMaxMs = 7 * 24 * 3_600_000;

export const configureDelete: Configure = (command, context) => {
  addSelectorFlags(
    command.argument('[resources...]', 'TYPE NAME..., TYPE/NAME..., or TYPE with -l or --all'),
  )
    .option(
      '-f, --filename <file...>',
      'the objects in files, directories, or - for standard input',
    )
    .option('-R, --recursive', 'search directories recursively')
    .option('--all', 'every resource of the type in the namespace')
    .option(
      '--cascade <policy>',
      'background, foreground (owned objects first) or orphan (leave them)',
      'background',
    )
    .option(
      '--grace-period <seconds>',
      'time for a pod to shut down. Higher: deletion takes longer. Lower: running work may be aborted',
    )
    .option('--now', 'the same as --grace-period=1')
    .option('--force', 'delete without confirmation of the node; the process may keep running')
    .option('--wait [boolean]', 'wait until the objects are gone', booleanOption('--wait'), true)
    .option('--timeout <duration>', 'longest wait; 0 means no timeout', '0')
    .option('--ignore-not-found', 'treat missing objects as deleted')
    .option(
      '--dry-run [mode]',
      'none, client (print the action only) or server (process the request, store nothing)',
    )
    .option('-o, --output <format>', 'name: print only names')
    .action(async (args: string[], options: DeleteOptions) => {
      if (options.output !== undefined && options.output !== 'name') {
        throw new UsageError(`-o: want name, got ${options.output}`);
      }
      const call = callOptions(options);
      const dryRun = dryRunMode(options.dryRun);
      const session = await context.session();
      const targets = await targetsOf(args, options, context, session);
      if (targets.length === 0) context.io.err('No resources found\n');
      if (options.force) {
        context.io.err(
          'Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. The resource may continue to run on the cluster indefinitely.\n',
        );
      }
      const remover = new Remover(session, context, options, call, dryRun);
      await remover.remove(targets);
    });
};

class Remover {
  private readonly leaving: PendingDeletion[] = [];
  private failed = false;

  constructor(
    private readonly session: Session,
    private readonly context: CommandContext,
    private readonly options: DeleteOptions,
    private readonly call: DeleteCall,
    private readonly dryRun: DryRunMode,
  ) {}

  async remove(targets: readonly Target[]): Promise<void> {
    for (const target of targets) await this.removeOne(target);
    if (this.options.wait && this.dryRun === 'none') {
      const timeoutMs = durationMs('--timeout', this.options.timeout);
      await waitUntilGone(this.leaving, timeoutMs > 0 ? timeoutMs : waitMaxMs);
    }
    if (this.failed) throw new PartialFailure();
  }

  private async removeOne({ type, name, namespace }: Target): Promise<void> {
    const { io } = this.context;
    const client = this.session.client.resource(type, namespace);
    const title = titleOf(type, { metadata: { name } });
    try {
      if (this.dryRun === 'client') await client.get(name);
      else {
        const answer = await client.delete(name, {
          ...this.call,
          dryRun: this.dryRun === 'server',
        });
        this.leaving.push({ client, name, uid: uidOf(answer), title });
      }
    } catch (error) {
      if (isNotFound(error) && this.options.ignoreNotFound) return;
      this.failed = true;
      io.err(errorLine(error));
      return;
    }
    if (this.options.output === 'name') io.out(`${title}\n`);
    else {
      const [typeName] = title.split('/');
      const verb = this.options.force ? 'force deleted' : 'deleted';
      io.out(`${typeName} "${name}" ${verb}${dryRunNote(this.dryRun)}\n`);
    }
  }
}

async function targetsOf(
  args: readonly string[],
  options: DeleteOptions,
  context: CommandContext,
  session: Session,
): Promise<Target[]> {
  if (options.filename) {
    const manifests = await readManifests(options.filename, options.recursive ?? false, context.io);
    return Promise.all(
      manifests.map(async (manifest) => {
        const { object, type } = await place(manifest, session);
        const { name = '', namespace } = object.metadata ?? {};
        return { type, name, namespace: type.namespaced ? namespace : undefined };
      }),
    );
  }
  const targets: Target[] = [];
  for (const { type, names } of await selectionsOf(args, session.catalog)) {
    const namespace = namespaceFor(type, session, options.allNamespaces);
    if (names.length > 0) {
      refuseSelectors(options);
      if (options.all) throw new UsageError('--all may not be given together with names');
      targets.push(...names.map((name) => ({ type, name, namespace })));
      continue;
    }
    if (!options.all && !options.selector && !options.fieldSelector) {
      throw new UsageError('no objects to delete: give names, -l, --field-selector or --all');
    }
    const list = await session.client.resource(type, namespace).listAll(selectorQuery(options));
    for (const { metadata } of itemsOf(list, type)) {
      targets.push({ type, name: metadata?.name ?? '', namespace: metadata?.namespace });
    }
  }
  return targets;
}

function callOptions(options: DeleteOptions): DeleteCall {
  const policies: Readonly<Record<string, DeleteCall['propagationPolicy']>> = cascades;
  const propagationPolicy = policies[options.cascade];
  if (!propagationPolicy) {
    throw new UsageError(
      `--cascade: want one of ${Object.keys(cascades).join(', ')}, got ${options.cascade}`,
    );
  }
  return { propagationPolicy, gracePeriodSeconds: gracePeriodSeconds(options) };
}

function gracePeriodSeconds(options: DeleteOptions): number | undefined {
  if (options.now && options.gracePeriod !== undefined) {
    throw new UsageError('--now and --grace-period may not be given together');
  }
  if (options.now) return 1;
  if (options.gracePeriod === undefined) return options.force ? 0 : undefined;
  const seconds = Number(options.gracePeriod);
  if (!Number.isInteger(seconds)) {
    throw new UsageError(`--grace-period: want whole seconds, got ${options.gracePeriod}`);
  }
  if (seconds === 0 && !options.force) {
    throw new UsageError('--grace-period=0 requires --force, because the process may keep running');
  }
  return seconds < 0 ? undefined : seconds;
}

/** The uid in the response, which is the object with a deletion time or a Status. */
function uidOf(answer: ApiObject & { details?: { uid?: string } }): string | undefined {
  return answer.metadata?.uid ?? answer.details?.uid;
}
