/**
 * The common part of `orchctl create KIND`: the flags that these commands share with `create -f`,
 * the request, and the output.
 */
import type { ApiObject } from '@orch/client';
import type { Command } from 'commander';
import { withLastApplied } from '../apply/applier.js';
import { dryRunMode, dryRunNote } from '../command-line/dry-run.js';
import { UsageError } from '../command-line/errors.js';
import { objectText, outputFormat } from '../output/object-text.js';
import { titleOf } from '../resources/manifest-target.js';
import { apiVersionOf, singularTypeName } from '../session/catalog.js';
import type { CommandContext } from '../session/command-context.js';

interface SharedOptions {
  readonly filename?: string[];
  readonly recursive?: boolean;
  readonly dryRun?: string | true;
  readonly fieldManager: string;
  readonly saveConfig?: boolean;
  readonly output?: string;
}

const fileFlags = ['--filename', '--recursive'];

/** A subcommand of `create`. Its help lists the flags of `create` that apply to it. */
export function createSubcommand(create: Command, name: string, description: string): Command {
  return create
    .command(name)
    .description(description)
    .argument('<name>', 'name of the object')
    .configureHelp({
      showGlobalOptions: true,
      visibleGlobalOptions: () =>
        create.options.filter(({ long }) => !fileFlags.includes(long ?? '')),
    });
}

/** The options of `create` for a subcommand. Throws `UsageError` for options of files. */
export function sharedOptions(subcommand: Command): SharedOptions {
  const options = (subcommand.parent as Command).opts<SharedOptions>();
  if (options.filename || options.recursive) {
    throw new UsageError(`create ${subcommand.name()} takes no files: remove -f and -R`);
  }
  return options;
}

export interface NewObject {
  readonly plural: string;
  readonly object: ApiObject;
}

/** Creates the object in the namespace of the session, and prints it. */
export async function createObject(
  { plural, object }: NewObject,
  subcommand: Command,
  context: CommandContext,
): Promise<void> {
  const options = sharedOptions(subcommand);
  const dryRun = dryRunMode(options.dryRun);
  const format = outputFormat(options.output);
  const session = await context.session();
  const type = await session.catalog.type(plural);
  const namespace = type.namespaced ? session.namespace : undefined;
  const full = {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    ...object,
    // A namespace that was not given is that of the request only, as in a manifest.
    metadata: {
      ...object.metadata,
      ...(namespace && context.globals.namespace !== undefined && { namespace }),
    },
  };
  const desired = options.saveConfig ? withLastApplied(full) : full;
  const created =
    dryRun === 'client'
      ? desired
      : await session.client
          .resource(type, namespace)
          .create(desired, { dryRun: dryRun === 'server', fieldManager: options.fieldManager });
  const text =
    format.kind === 'table'
      ? `${titleOf(type, created)} created${dryRunNote(dryRun)}\n`
      : objectText(created, format, singularTypeName(type));
  context.io.out(text);
}
