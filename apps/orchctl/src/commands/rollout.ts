/** `orchctl rollout`: how a rollout stands, its history, and what can be done about it. */

import type { Command } from 'commander';
import { type Selection, selectionsOf } from '../lib/arguments.js';
import type { CommandContext, Configure } from '../lib/context.js';
import { UsageError } from '../lib/errors.js';
import { readObjects, type SelectorOptions } from '../lib/requests.js';
import { history, revisionDetails } from '../lib/rollout/history.js';
import { followStatus } from '../lib/rollout/status.js';
import { restart, setPaused } from '../lib/rollout/template-change.js';
import { undo } from '../lib/rollout/undo.js';
import { durationMs, type Session } from '../lib/session.js';

interface Named {
  readonly session: Session;
  readonly type: Selection['type'];
  readonly name: string;
}

export const configureRollout: Configure = (command, context) => {
  subcommand(command, 'status', 'follow a rollout until it is complete')
    .option('-w, --watch [boolean]', 'false: say how it stands now, and end', 'true')
    .option(
      '--timeout <duration>',
      'longest wait; then the exit code is 124; 0 is without end',
      '0',
    )
    .action(
      async (
        words: string[],
        options: SelectorOptions & { watch: string | true; timeout: string },
      ) => {
        const timeoutMs = durationMs('--timeout', options.timeout);
        for (const one of await named(words, options, context)) {
          await followStatus(one, { follow: options.watch !== 'false', timeoutMs }, context.io.out);
        }
      },
    );
  subcommand(command, 'history', 'list the revisions, or show one')
    .option('--revision <number>', 'show the pod template of this revision')
    .action(async (words: string[], options: SelectorOptions & { revision?: string }) => {
      for (const one of await named(words, options, context)) {
        const text = options.revision
          ? await revisionDetails(one, revisionOf('--revision', options.revision))
          : await history(one);
        context.io.out(text);
      }
    });
  subcommand(command, 'undo', 'go back to an earlier revision')
    .option('--to-revision <number>', 'which; the one before when left out', '0')
    .action(async (words: string[], options: SelectorOptions & { toRevision: string }) => {
      const revision = revisionOf('--to-revision', options.toRevision);
      for (const one of await named(words, options, context)) {
        context.io.out(`${await undo(one, revision)}\n`);
      }
    });
  subcommand(command, 'restart', 'start every pod anew, as a rollout').action(
    async (words: string[], options: SelectorOptions) => {
      for (const one of await named(words, options, context)) {
        context.io.out(`${await restart(one)}\n`);
      }
    },
  );
  for (const verb of ['pause', 'resume'] as const) {
    subcommand(command, verb, `${verb} rollouts of a deployment`).action(
      async (words: string[], options: SelectorOptions) => {
        for (const one of await named(words, options, context)) {
          context.io.out(`${await setPaused(one, verb === 'pause')}\n`);
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

async function named(
  words: readonly string[],
  options: SelectorOptions,
  context: CommandContext,
): Promise<Named[]> {
  const session = await context.session();
  const result: Named[] = [];
  for (const { type, names } of await selectionsOf(words, session.catalog)) {
    if (names.length === 0 && !options.selector) {
      throw new UsageError('name the workload, or select it with -l');
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

function revisionOf(flag: string, text: string): number {
  const revision = Number(text);
  if (!Number.isInteger(revision) || revision < 0) {
    throw new UsageError(`${flag}: want a revision number, got ${text}`);
  }
  return revision;
}
