/** `orchctl apply -f`: makes the server's objects match files. */
import { applyObject } from '../lib/apply/applier.js';
import { patchSchemaOf } from '../lib/apply/patch-schema.js';
import { singularTypeName } from '../lib/catalog.js';
import type { Configure } from '../lib/context.js';
import { UsageError } from '../lib/errors.js';
import { Failures } from '../lib/failures.js';
import { readManifests } from '../lib/manifests.js';
import { objectText, outputFormat } from '../lib/output.js';
import { dryRunMode, dryRunNote, place } from '../lib/placing.js';

interface ApplyOptions {
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
    .option('-f, --filename <file...>', 'files, folders, or - for standard input')
    .option('-R, --recursive', 'look through folders of folders')
    .option(
      '--dry-run [mode]',
      'none, client (say what would be done) or server (ask it, change nothing)',
    )
    .option(
      '--field-manager <name>',
      'who owns the fields that are set',
      'orchctl-client-side-apply',
    )
    .option('--server-side', 'let the server merge and keep track of who owns which field')
    .option('--force-conflicts', 'with --server-side: take over fields that others own')
    .option('-o, --output <format>', 'json, yaml or name instead of a line for each object')
    .action(async (options: ApplyOptions) => {
      if (!options.filename) throw new UsageError('say what to apply with -f FILE');
      if (options.forceConflicts && !options.serverSide) {
        throw new UsageError('--force-conflicts belongs to --server-side');
      }
      const dryRun = dryRunMode(options.dryRun);
      if (options.serverSide && dryRun === 'client') {
        throw new UsageError('--server-side needs the server: use --dry-run=server');
      }
      const format = outputFormat(options.output);
      const { io } = context;
      const manifests = await readManifests(options.filename, options.recursive ?? false, io);
      const session = await context.session();
      const failures = new Failures(io);
      // One after another: a namespace must be there before what stands in it.
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
          else io.out(objectText(applied.object, format, singularTypeName(type)));
        });
      }
      failures.end();
    });
};
