/**
 * The implementation of `label` and `annotate`: `key=value` sets, `key-` removes, an existing value
 * changes only with `--overwrite`.
 */

import { dryRunMode, dryRunNote } from '../command-line/dry-run.js';
import { CliError, UsageError } from '../command-line/errors.js';
import { Failures } from '../command-line/failures.js';
import { titleOf } from '../resources/manifest-target.js';
import {
  addSelectorFlags,
  namespaceFor,
  readObjects,
  type SelectorOptions,
} from '../resources/requests.js';
import { selectionsOf } from '../resources/selection.js';
import { apiVersionOf } from '../session/catalog.js';
import type { Configure } from '../session/command-context.js';

interface ChangeOptions extends SelectorOptions {
  readonly overwrite?: boolean;
  readonly all?: boolean;
  readonly dryRun?: string | true;
}

export function configureMetadataChange(field: 'labels' | 'annotations', done: string): Configure {
  return (command, context) => {
    addSelectorFlags(
      command.argument('<words...>', 'TYPE NAME... or TYPE/NAME..., then KEY=VALUE or KEY- ...'),
    )
      .option('--overwrite', 'change existing values')
      .option('--all', 'every resource of the type in the namespace')
      .option(
        '--dry-run [mode]',
        'none, client (print the action only) or server (process the request, store nothing)',
      )
      .action(async (words: string[], options: ChangeOptions) => {
        const { targets, changes } = split(words);
        const dryRun = dryRunMode(options.dryRun);
        const session = await context.session();
        const failures = new Failures(context.io);
        for (const { type, names } of await selectionsOf(targets, session.catalog)) {
          const isSelected = options.selector ?? options.fieldSelector ?? options.all;
          if (names.length === 0 && !isSelected) {
            throw new UsageError('no resources: give names, -l or --all');
          }
          for (const object of await readObjects(session, type, names, options)) {
            const title = titleOf(type, object);
            await failures.showing(async () => {
              const current = object.metadata?.[field] ?? {};
              refuseOverwrite(title, current, changes, options.overwrite ?? false);
              const isChange = [...changes].some(
                ([key, value]) => (current[key] ?? null) !== value,
              );
              if (isChange && dryRun !== 'client') {
                const namespace = object.metadata?.namespace ?? namespaceFor(type, session);
                await session.client.resource(type, type.namespaced ? namespace : undefined).patch(
                  object.metadata?.name ?? '',
                  {
                    apiVersion: apiVersionOf(type),
                    kind: type.kind,
                    metadata: { [field]: Object.fromEntries(changes) },
                  },
                  { type: 'merge', dryRun: dryRun === 'server' },
                );
              }
              const what = isChange ? done : `not ${done}`;
              context.io.out(`${title} ${what}${dryRunNote(dryRun)}\n`);
            });
          }
        }
        failures.end();
      });
  };
}

/** New values by key. Null removes the key. */
type Changes = ReadonlyMap<string, string | null>;

function split(words: readonly string[]): { targets: string[]; changes: Changes } {
  const targets: string[] = [];
  const changes = new Map<string, string | null>();
  for (const word of words) {
    const equals = word.indexOf('=');
    if (equals > 0) changes.set(word.slice(0, equals), word.slice(equals + 1));
    else if (word.endsWith('-') && targets.length > 0) changes.set(word.slice(0, -1), null);
    else if (changes.size > 0) throw new UsageError(`resources must precede KEY=VALUE: ${word}`);
    else targets.push(word);
  }
  if (changes.size === 0) throw new UsageError('no change: give KEY=VALUE or KEY-');
  return { targets, changes };
}

function refuseOverwrite(
  title: string,
  current: Readonly<Record<string, string>>,
  changes: Changes,
  overwrite: boolean,
): void {
  if (overwrite) return;
  for (const [key, value] of changes) {
    if (value === null || current[key] === undefined || current[key] === value) continue;
    throw new CliError(
      `${title}: '${key}' already has a value (${current[key]}), and --overwrite is false`,
    );
  }
}
