/** `orchctl auth`: permissions and identity of the user, and reconciliation of roles. */
import type { Command } from 'commander';
import { type Identity, identityInDenial, identityOf } from '../access/identity.js';
import {
  decisionLine,
  permissionQuestion,
  reviewPermission,
  reviewRules,
} from '../access/permission.js';
import { ruleTable } from '../access/rule-table.js';
import { dryRunMode, dryRunNote } from '../command-line/dry-run.js';
import { PartialFailure, UsageError } from '../command-line/errors.js';
import { Failures } from '../command-line/failures.js';
import { ObjectTexts, outputFormat, yamlText } from '../output/object-text.js';
import { TableWriter } from '../output/table.js';
import { place, titleOf } from '../resources/manifest-target.js';
import { readManifests } from '../resources/manifests.js';
import { singularTypeName } from '../session/catalog.js';
import type { CommandContext, Configure } from '../session/command-context.js';
import { connectionFrom } from '../session/connection.js';
import type { Session } from '../session/session.js';

interface CanIOptions {
  readonly list?: boolean;
  readonly subresource?: string;
  readonly allNamespaces?: boolean;
  readonly quiet?: boolean;
  readonly headers: boolean;
}

interface ReconcileFlags {
  readonly filename?: string[];
  readonly recursive?: boolean;
  readonly removeExtraPermissions?: boolean;
  readonly removeExtraSubjects?: boolean;
  readonly dryRun?: string | true;
  readonly output?: string;
}

export const configureAuth: Configure = (command, context) => {
  addCanI(command, context);
  addReconcile(command, context);
  addWhoAmI(command, context);
};

function addWhoAmI(command: Command, context: CommandContext): void {
  command
    .command('whoami')
    .description('show the user of the session and the source of this information')
    .option('-o, --output <format>', 'json or yaml; default: a table')
    .action(async ({ output }: { output?: string }) => {
      if (output !== undefined && output !== 'json' && output !== 'yaml') {
        throw new UsageError(`-o: want json or yaml, got ${output}`);
      }
      const identity = await currentIdentity(context);
      if (output === 'json') context.io.out(`${JSON.stringify(identity, null, 4)}\n`);
      else if (output === 'yaml') context.io.out(yamlText(identity));
      else {
        context.io.out(identityTable(identity));
        for (const note of identity.notes) context.io.err(`Warning: ${note}\n`);
      }
    });
}

async function currentIdentity(context: CommandContext): Promise<Identity> {
  let session: Session;
  try {
    session = await context.session();
  } catch (error) {
    const identity = identityInDenial(error);
    if (!identity) throw error;
    return identity;
  }
  return identityOf(session, connectionFrom(context.globals));
}

function identityTable({ userInfo, source }: Identity): string {
  const { username = '', uid, groups, extra = {} } = userInfo;
  const list = (values: readonly string[]) => `[${values.join(' ')}]`;
  return new TableWriter().format([
    ['ATTRIBUTE', 'VALUE'],
    ['Username', username],
    ...(uid ? [['UID', uid]] : []),
    ...(groups ? [['Groups', list(groups)]] : []),
    ...Object.entries(extra).map(([key, values]) => [`Extra: ${key}`, list(values)]),
    ['Source', source],
  ]);
}

function addCanI(command: Command, context: CommandContext): void {
  command
    .command('can-i')
    .description('check whether an action is allowed; the exit code is 1 if it is not')
    .argument('[words...]', 'VERB TYPE [NAME], VERB TYPE/NAME, or VERB /PATH')
    .option('--subresource <name>', 'subresource, such as log or scale')
    .option('-A, --all-namespaces', 'in all namespaces')
    .option('-q, --quiet', 'print nothing; the exit code is the result')
    .option('--list', 'list all permissions in the namespace')
    .option('--no-headers', 'with --list: omit the header line')
    .action(async (words: string[], options: CanIOptions) => {
      if (options.list) return listPermissions(words, options, context);
      const session = await context.session();
      const { spec, warnings } = await permissionQuestion(
        {
          words,
          ...(options.subresource && { subresource: options.subresource }),
          namespace: options.allNamespaces ? undefined : session.namespace,
        },
        session.catalog,
      );
      if (!options.quiet) for (const warning of warnings) context.io.err(`Warning: ${warning}\n`);
      const status = await reviewPermission(session, spec);
      if (!options.quiet) context.io.out(decisionLine(status));
      // The decision is the message.
      if (!status.allowed) throw new PartialFailure();
    });
}

async function listPermissions(
  words: readonly string[],
  options: CanIOptions,
  context: CommandContext,
): Promise<void> {
  if (words.length > 0 || options.subresource || options.quiet) {
    throw new UsageError('--list takes neither arguments nor --subresource nor --quiet');
  }
  if (options.allNamespaces) {
    throw new UsageError('--list: the server lists permissions in one namespace; give -n');
  }
  const session = await context.session();
  const status = await reviewRules(session, session.namespace);
  if (status.incomplete) {
    context.io.err(`Warning: the list may be incomplete: ${status.evaluationError ?? ''}\n`);
  }
  context.io.out(ruleTable(status, options.headers));
}

function addReconcile(command: Command, context: CommandContext): void {
  command
    .command('reconcile')
    .description('create roles and bindings of files, and add their missing rules and subjects')
    .option('-f, --filename <file...>', 'files, directories, or - for standard input')
    .option('-R, --recursive', 'search directories recursively')
    .option('--remove-extra-permissions', 'remove rules that the files do not have')
    .option('--remove-extra-subjects', 'remove subjects that the files do not have')
    .option('--dry-run [mode]', 'none or client (print the changes only)')
    .option('-o, --output <format>', 'json, yaml or name; default: one line per object')
    .action(async (flags: ReconcileFlags) => {
      if (!flags.filename) throw new UsageError('no manifest to reconcile: give -f FILE');
      const dryRun = dryRunMode(flags.dryRun);
      if (dryRun === 'server') {
        throw new UsageError('--dry-run=server for command reconcile is not supported');
      }
      const format = outputFormat(flags.output);
      const texts = new ObjectTexts(format);
      const { io } = context;
      const manifests = await readManifests(flags.filename, flags.recursive ?? false, io);
      const session = await context.session();
      // Loads the API definitions, which no other command needs.
      const { isReconcilable, reconcile, reconcileNotes } = await import('../access/reconciler.js');
      const failures = new Failures(io);
      for (const manifest of manifests) {
        await failures.showing(async () => {
          const placed = await place(manifest, session);
          const { type } = placed;
          if (!isReconcilable(placed)) {
            const title = titleOf(type, placed.object);
            io.err(`Warning: skipped ${title}, which is neither a role nor a binding\n`);
            return;
          }
          const reconciled = await reconcile(placed, session, {
            removeExtraPermissions: flags.removeExtraPermissions ?? false,
            removeExtraSubjects: flags.removeExtraSubjects ?? false,
            isDryRun: dryRun !== 'none',
          });
          const { object } = reconciled;
          if (format.kind === 'table') {
            io.out(`${titleOf(type, object)} reconciled${dryRunNote(dryRun)}\n`);
            io.err(reconcileNotes(reconciled));
          } else io.out(texts.next(object, singularTypeName(type)));
        });
      }
      failures.end();
    });
}
