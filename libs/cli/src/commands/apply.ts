/** `orchctl apply -f`: creates or patches objects to match files. */
import { applyObject } from '../apply/applier.js';
import { patchSchemaOf } from '../apply/patch-schema.js';
import { dryRunMode, dryRunNote } from '../command-line/dry-run.js';
import { UsageError } from '../command-line/errors.js';
import { Failures } from '../command-line/failures.js';
import { ObjectTexts, outputFormat } from '../output/object-text.js';
import { place } from '../resources/manifest-target.js';
import { readManifests } from '../resources/manifests.js';
import { singularTypeName } from '../session/catalog.js';
import type { Configure } from '../session/command-context.js';

interface CommandOptions {
  readonly filename?: string[];
  readonly recursive?: boolean;
  readonly dryRun?: string | true;
  readonly fieldManager: string;
  readonly output?: string;
  readonly serverSide?: boolean;
  readonly forceConflicts?: boolean;
}

export const configureApply: Configure = (command, context) => {
  command
    .option('-f, --filename <file...>', 'files, directories, or - for standard input')
    .option('-R, --recursive', 'search directories recursively')
    .option(
      '--dry-run [mode]',
      'none, client (print the action only) or server (process the request, store nothing)',
    )
    .option(
      '--field-manager <name>',
      'field manager of the fields that the request sets',
      'orchctl-client-side-apply',
    )
    .option('--server-side', 'merge on the server, which tracks the field manager of each field')
    .option('--force-conflicts', 'with --server-side: overwrite fields of other field managers')
    .option('-o, --output <format>', 'json, yaml or name; default: one line per object')
    .action(async (options: CommandOptions) => {
      if (!options.filename) throw new UsageError('no manifest to apply: give -f FILE');
      if (options.forceConflicts && !options.serverSide) {
        throw new UsageError('--force-conflicts requires --server-side');
      }
      const dryRun = dryRunMode(options.dryRun);
      if (options.serverSide && dryRun === 'client') {
        throw new UsageError(
          '--dry-run=client is not possible with --server-side: use --dry-run=server',
        );
      }
      const format = outputFormat(options.output);
      const texts = new ObjectTexts(format);
      const { io } = context;
      const manifests = await readManifests(options.filename, options.recursive ?? false, io);
      const session = await context.session();
      const failures = new Failures(io);
      // Sequentially, because a namespace must exist before its objects.
      for (const manifest of manifests) {
        await failures.showing(async () => {
          const { object, type, client, title } = await place(manifest, session);
          const { fieldManager } = options;
          const applied = options.serverSide
            ? {
                action: 'serverside-applied',
                object: await client.patch(object.metadata?.name ?? '', JSON.stringify(object), {
                  type: 'apply',
                  dryRun: dryRun === 'server',
                  force: options.forceConflicts ?? false,
                  fieldManager:
                    command.getOptionValueSource('fieldManager') === 'cli'
                      ? fieldManager
                      : 'orchctl',
                }),
                warning: undefined,
              }
            : await applyObject(object, client, type, patchSchemaOf(type), {
                dryRun,
                fieldManager,
              });
          if (applied.warning) io.err(`Warning: ${applied.warning}\n`);
          if (format.kind === 'table') io.out(`${title} ${applied.action}${dryRunNote(dryRun)}\n`);
          else io.out(texts.next(applied.object, singularTypeName(type)));
        });
      }
      failures.end();
    });
};
