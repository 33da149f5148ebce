/**
 * `orchctl get`: prints resources as tables of the server, custom columns, JSON, YAML, names or
 * values.
 */

import { UsageError } from '../command-line/errors.js';
import type { Io } from '../command-line/io.js';
import { type GetFormat, type GetOptions, Getter } from '../get/getter.js';
import { customColumns } from '../output/custom-columns.js';
import { outputFormat } from '../output/object-text.js';
import { place } from '../resources/manifest-target.js';
import { readManifests } from '../resources/manifests.js';
import { addSelectorFlags, defaultChunkSize } from '../resources/requests.js';
import { type Selection, selectionsOf } from '../resources/selection.js';
import type { Configure } from '../session/command-context.js';
import type { Session } from '../session/session.js';

interface CommandOptions extends GetOptions {
  readonly output?: string;
  readonly filename?: string[];
  readonly recursive?: boolean;
}

export const configureGet: Configure = (command, context) => {
  addSelectorFlags(
    command.argument('[resources...]', 'TYPE, TYPE NAME..., TYPE/NAME... or TYPE,TYPE'),
  )
    .option(
      '-o, --output <format>',
      'json, yaml, wide, name, jsonpath=TEMPLATE, custom-columns=HEADER:PATH,... or custom-columns-file=FILE',
    )
    .option('-f, --filename <file...>', 'the resources in these files')
    .option('-R, --recursive', 'search directories recursively')
    .option('-w, --watch', 'watch for changes until interrupted')
    .option('--watch-only', 'watch without listing existing objects first')
    .option(
      '--chunk-size <count>',
      'objects per page; 0 means one page. Higher: fewer requests. Lower: the first page arrives earlier',
      String(defaultChunkSize),
    )
    .option('--no-headers', 'omit the header line')
    .option('--show-labels', 'print all labels in the last column')
    .option('-L, --label-columns <keys...>', 'print these labels as columns')
    .option('--sort-by <path>', 'order by the value of a JSON path, such as .metadata.name')
    .option('--ignore-not-found', 'do not report missing objects')
    .option('--show-managed-fields', 'include managed fields in JSON and YAML')
    .action(async (args: string[], options: CommandOptions) => {
      const format = formatOf(options);
      const session = await context.session();
      const selections = options.filename
        ? await selectionsOfFiles(options, session, context.io)
        : await selectionsOf(args, session.catalog);
      const getter = new Getter(session, context.io, options, format);
      await getter.show(selections);
    });
};

/** Throws `UsageError`. */
function formatOf({ output, showLabels }: CommandOptions): GetFormat {
  const columns = customColumns(output);
  const format: GetFormat = columns
    ? { kind: 'custom-columns', columns }
    : outputFormat(output, ['custom-columns=HEADER:PATH,...', 'custom-columns-file=FILE']);
  if (showLabels && format.kind !== 'table') {
    throw new UsageError(`--show-labels option cannot be used with ${output} printer`);
  }
  return format;
}

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
