/** `orchctl get`: resources as the server's tables, or as JSON, YAML, names or values. */
import { type Selection, selectionsOf } from '../lib/arguments.js';
import type { Configure } from '../lib/context.js';
import { type GetOptions, Getter } from '../lib/get/getter.js';
import type { Io } from '../lib/io.js';
import { readManifests } from '../lib/manifests.js';
import { outputFormat } from '../lib/output.js';
import { place } from '../lib/placing.js';
import { addSelectorFlags, defaultChunkSize } from '../lib/requests.js';
import type { Session } from '../lib/session.js';

interface CommandOptions extends GetOptions {
  readonly output?: string;
  readonly filename?: string[];
  readonly recursive?: boolean;
}

export const configureGet: Configure = (command, context) => {
  addSelectorFlags(
    command.argument('[resources...]', 'TYPE, TYPE NAME..., TYPE/NAME... or TYPE,TYPE'),
  )
    .option('-o, --output <format>', 'json, yaml, wide, name or jsonpath=TEMPLATE')
    .option('-f, --filename <file...>', 'the resources named in files')
    .option('-R, --recursive', 'look through folders of folders')
    .option('-w, --watch', 'show changes as they happen, until interrupted')
    .option('--watch-only', 'as --watch, without what is there already')
    .option(
      '--chunk-size <count>',
      'objects a page; smaller shows sooner, larger needs fewer requests; 0 is all at once',
      String(defaultChunkSize),
    )
    .option('--no-headers', 'leave the line of column names out')
    .option('--show-labels', 'all labels in a last column')
    .option('-L, --label-columns <keys...>', 'these labels as columns')
    .option('--sort-by <path>', 'order by the value of a JSON path, such as .metadata.name')
    .option('--ignore-not-found', 'succeed in silence when a named object does not exist')
    .option('--show-managed-fields', 'keep managed fields in JSON and YAML')
    .action(async (args: string[], options: CommandOptions) => {
      const format = outputFormat(options.output);
      const session = await context.session();
      const selections = options.filename
        ? await selectionsOfFiles(options, session, context.io)
        : await selectionsOf(args, session.catalog);
      const getter = new Getter(session, context.io, options, format);
      await getter.show(selections);
    });
};

async function selectionsOfFiles(
  options: CommandOptions,
  session: Session,
  io: Io,
): Promise<Selection[]> {
  const manifests = await readManifests(options.filename ?? [], options.recursive ?? false, io);
  return Promise.all(
    manifests.map(async (manifest) => {
      const { object, type } = await place(manifest, session);
      const { name = '', namespace } = object.metadata ?? {};
      return { type, names: [name], namespace };
    }),
  );
}
