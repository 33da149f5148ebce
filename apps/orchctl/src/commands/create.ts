/** `orchctl create -f`: creates the objects of files; those that exist are an error. */

import { withLastApplied } from '../lib/apply/applier.js';
import { singularTypeName } from '../lib/catalog.js';
import type { Configure } from '../lib/context.js';
import { UsageError } from '../lib/errors.js';
import { Failures } from '../lib/failures.js';
import { readManifests } from '../lib/manifests.js';
import { objectText, outputFormat } from '../lib/output.js';
import { dryRunMode, dryRunNote, place, titleOf } from '../lib/placing.js';

interface CreateOptions {
  readonly filename?: string[];
  readonly recursive?: boolean;
  readonly dryRun?: string | true;
  readonly fieldManager: string;
  readonly saveConfig?: boolean;
  readonly output?: string;
}

export const configureCreate: Configure = (command, context) => {
  command
    .option('-f, --filename <file...>', 'files, folders, or - for standard input')
    .option('-R, --recursive', 'look through folders of folders')
    .option(
      '--dry-run [mode]',
      'none, client (say what would be done) or server (ask it, change nothing)',
    )
    .option('--field-manager <name>', 'who owns the fields that are set', 'orchctl-create')
    .option('--save-config', 'remember the configuration, so that apply can go on from it')
    .option('-o, --output <format>', 'json, yaml or name instead of a line for each object')
    .action(async (options: CreateOptions) => {
      if (!options.filename) throw new UsageError('say what to create with -f FILE');
      const dryRun = dryRunMode(options.dryRun);
      const format = outputFormat(options.output);
      const { io } = context;
      const manifests = await readManifests(options.filename, options.recursive ?? false, io);
      const session = await context.session();
      const failures = new Failures(io);
      for (const manifest of manifests) {
        await failures.showing(async () => {
          const { object, type, client } = await place(manifest, session);
          const wanted = options.saveConfig ? withLastApplied(object) : object;
          const { fieldManager } = options;
          const created =
            dryRun === 'client'
              ? wanted
              : await client.create(wanted, { dryRun: dryRun === 'server', fieldManager });
          if (format.kind === 'table') {
            io.out(`${titleOf(type, created)} created${dryRunNote(dryRun)}\n`);
          } else io.out(objectText(created, format, singularTypeName(type)));
        });
      }
      failures.end();
    });
};
