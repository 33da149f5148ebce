/**
 * `orchctl create -f`: creates the objects in files. An existing object is an error. Subcommands
 * create one object from flags.
 */

import { withLastApplied } from '../apply/applier.js';
import { dryRunMode, dryRunNote } from '../command-line/dry-run.js';
import { UsageError } from '../command-line/errors.js';
import { Failures } from '../command-line/failures.js';
import { ObjectTexts, outputFormat } from '../output/object-text.js';
import { place, titleOf } from '../resources/manifest-target.js';
import { readManifests } from '../resources/manifests.js';
import { singularTypeName } from '../session/catalog.js';
import type { Configure } from '../session/command-context.js';
import { addCreateBindings } from './create-binding.js';
import { addCreateRoles } from './create-role.js';
import { addCreateServiceAccount, addCreateToken } from './create-service-account.js';

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
    .option('-f, --filename <file...>', 'files, directories, or - for standard input')
    .option('-R, --recursive', 'search directories recursively')
    .option(
      '--dry-run [mode]',
      'none, client (print the action only) or server (process the request, store nothing)',
    )
    .option(
      '--field-manager <name>',
      'field manager of the fields that the request sets',
      'orchctl-create',
    )
    .option('--save-config', 'store the configuration in an annotation for a later apply')
    .option('-o, --output <format>', 'json, yaml or name; default: one line per object')
    .action(async (options: CreateOptions) => {
      if (!options.filename) throw new UsageError('no manifest to create: give -f FILE');
      const dryRun = dryRunMode(options.dryRun);
      const format = outputFormat(options.output);
      const texts = new ObjectTexts(format);
      const { io } = context;
      const manifests = await readManifests(options.filename, options.recursive ?? false, io);
      const session = await context.session();
      const failures = new Failures(io);
      for (const manifest of manifests) {
        await failures.showing(async () => {
          const { object, type, client } = await place(manifest, session);
          const desired = options.saveConfig ? withLastApplied(object) : object;
          const { fieldManager } = options;
          const created =
            dryRun === 'client'
              ? desired
              : await client.create(desired, { dryRun: dryRun === 'server', fieldManager });
          if (format.kind === 'table') {
            io.out(`${titleOf(type, created)} created${dryRunNote(dryRun)}\n`);
          } else io.out(texts.next(created, singularTypeName(type)));
        });
      }
      failures.end();
    });
  addCreateRoles(command, context);
  addCreateBindings(command, context);
  addCreateServiceAccount(command, context);
  addCreateToken(command, context);
};
