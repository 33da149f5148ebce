/** `orchctl rollout`: follows, lists, undoes, pauses, resumes and restarts rollouts. */

import type { Command } from 'commander';
import { UsageError } from '../command-line/errors.js';
import { count, durationMs } from '../command-line/option-values.js';
import { readObjects, type SelectorOptions } from '../resources/requests.js';
import { type Selection, selectionsOf } from '../resources/selection.js';
import { history, revisionDetails } from '../rollout/history.js';
import { followStatus } from '../rollout/status.js';
import { restart, setPaused } from '../rollout/template-change.js';
import { undo } from '../rollout/undo.js';
import type { CommandContext, Configure } from '../session/command-context.js';
import type { Session } from '../session/session.js';

interface WorkloadReference {
  readonly session: Session;
  readonly type: Selection['type'];
  readonly name: string;
}

export const configureRollout: Configure = (command, context) => {
  subcommand(command, 'status', 'watch a rollout until it is complete')
    .option('-w, --watch [boolean]', 'false: print the current status and exit', 'true')
    .option(
      '--timeout <duration>',
      'longest wait, after which the exit code is 124; 0 means no timeout',
      '0',
    )
    .action(
      async (
        words: string[],
        options: SelectorOptions & { watch: string | true; timeout: string },
      ) => {
        const timeoutMs = durationMs('--timeout', options.timeout);
        for (const workload of await selectedWorkloads(words, options, context)) {
          await followStatus(
            workload,
            { follow: options.watch !== 'false', timeoutMs },
            context.io.out,
          );
        }
      },
    );
  subcommand(command, 'history', 'list revisions, or show one')
    .option('--revision <number>', 'show the pod template of this revision')
    .action(async (words: string[], options: SelectorOptions & { revision?: string }) => {
      for (const workload of await selectedWorkloads(words, options, context)) {
        const text = options.revision
          ? await revisionDetails(workload, count('--revision', options.revision))
          : await history(workload);
        context.io.out(text);
      }
    });
  subcommand(command, 'undo', 'roll back to an earlier revision')
    .option('--to-revision <number>', 'revision to roll back to; 0 means the previous one', '0')
    .action(async (words: string[], options: SelectorOptions & { toRevision: string }) => {
      const revision = count('--to-revision', options.toRevision);
      for (const workload of await selectedWorkloads(words, options, context)) {
        context.io.out(`${await undo(workload, revision)}\n`);
      }
    });
  subcommand(command, 'restart', 'restart all pods by a rollout').action(
    async (words: string[], options: SelectorOptions) => {
      for (const workload of await selectedWorkloads(words, options, context)) {
        context.io.out(`${await restart(workload)}\n`);
      }
    },
  );
  for (const verb of ['pause', 'resume'] as const) {
    subcommand(command, verb, `${verb} rollouts of a deployment`).action(
      async (words: string[], options: SelectorOptions) => {
        for (const workload of await selectedWorkloads(words, options, context)) {
          context.io.out(`${await setPaused(workload, verb === 'pause')}\n`);
        }
      },
    );
  }
};

function subcommand(command: Command, name: string, description: string): Command {
  return command
    .command(name)
    .description(description)
    .argument('<words...>', 'TYPE NAME..., TYPE/NAME..., or TYPE with -l')
    .option('-l, --selector <query>', 'labels to select by');
}

async function selectedWorkloads(
  words: readonly string[],
  options: SelectorOptions,
  context: CommandContext,
): Promise<WorkloadReference[]> {
  const session = await context.session();
  const result: WorkloadReference[] = [];
  for (const { type, names } of await selectionsOf(words, session.catalog)) {
    if (names.length === 0 && !options.selector) {
      throw new UsageError('no workload: give a name or -l');
    }
    const found =
      names.length > 0
        ? names
        : (await readObjects(session, type, [], options)).map(
            ({ metadata }) => metadata?.name ?? '',
          );
    result.push(...found.map((name) => ({ session, type, name })));
  }
  return result;
}
