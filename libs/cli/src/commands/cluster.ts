/** `orchctl cluster`: the replicas of the API server, their leader, and backups. */
import type { Command } from 'commander';
import type { RestoreOptions } from '../cluster/offline.js';
import type { ReencryptionPage } from '../cluster/reencrypt.js';
import {
  type ClusterCheck,
  type ClusterView,
  checkRows,
  memberRows,
  unanswered,
  verdictOf,
} from '../cluster/views.js';
import { CliError, TimeoutError } from '../command-line/errors.js';
import { objectText, outputFormat } from '../output/object-text.js';
import { TableWriter } from '../output/table.js';
import type { CommandContext, Configure } from '../session/command-context.js';

interface Output {
  readonly output?: string;
}

export const configureCluster: Configure = (command, context) => {
  const printingCommand = (name: string, description: string) =>
    command.command(name).description(description).option('-o, --output <format>', 'json or yaml');
  printingCommand('status', 'show the state of every replica').action(async (options: Output) => {
    const view = await ask<ClusterView>(context, 'GET', '/cluster/status');
    show(context, options, view, () => memberRows(view, true));
  });
  printingCommand('members', 'list the replicas').action(async (options: Output) => {
    const view = await ask<ClusterView>(context, 'GET', '/cluster/status');
    show(context, options, view, () => memberRows(view, false));
  });
  printingCommand('check', 'compare the content of all replicas at one revision').action(
    async (options: Output) => {
      const check = await ask<ClusterCheck>(context, 'GET', '/cluster/check');
      show(context, options, check, () => checkRows(check));
      failUnlessConsistent(check);
    },
  );
  printingCommand(
    'add-member <name>',
    'add a replica as a learner, which has no vote until it is promoted',
  )
    .requiredOption('--peer-url <url>', 'https://host:port at which the other replicas reach it')
    .option('--client-url <url>', 'URL at which clients reach its API')
    .action(async (name: string, options: Output & { peerUrl: string; clientUrl?: string }) => {
      const { peerUrl, clientUrl } = options;
      const body = { name, peerUrl, ...(clientUrl && { clientUrl }) };
      const { member } = await ask<Added>(context, 'POST', '/cluster/members', body);
      if (options.output) return show(context, options, member, () => []);
      context.io.out(
        `added ${name} as learner ${member.id}; start it with --initial-cluster-state=join, then: orchctl cluster promote ${name}\n`,
      );
    });
  command
    .command('remove-member <member>')
    .description('remove a replica, by id or name; its data directory can never rejoin')
    .action(async (member: string) => {
      await ask(context, 'DELETE', `/cluster/members/${encodeURIComponent(member)}`);
      context.io.out(`removed ${member}\n`);
    });
  command
    .command('promote <member>')
    .description('promote a learner that has caught up to a voter, by id or name')
    .action(async (member: string) => {
      await ask(context, 'POST', `/cluster/members/${encodeURIComponent(member)}/promote`);
      context.io.out(`${member} is a voter\n`);
    });
  command
    .command('move-leader [member]')
    .description('move leadership to a voter, by id or name; default: the most up-to-date voter')
    .action(async (to: string | undefined) => {
      const view = await ask<ClusterView>(context, 'POST', '/cluster/leader', to ? { to } : {});
      const leader = view.members.find(({ id }) => id === view.leader);
      context.io.out(`${leader?.name ?? view.leader} leads\n`);
    });
  configureSnapshots(command, context);
  configureReencryption(command, context);
  command
    .command('recover')
    .description(
      'create a cluster of one member from the only remaining data directory; stop its server first. Writes that the other replicas acknowledged without this one are lost',
    )
    .requiredOption('--data-dir <directory>', 'data directory of the surviving API server')
    .action(async (options: { dataDir: string }) => {
      const { recover } = await import('../cluster/offline.js');
      context.io.out(await recover(options.dataDir));
    });
};

/** Throws CliError if replicas differ, TimeoutError if some did not respond. */
function failUnlessConsistent(check: ClusterCheck): void {
  const result = verdictOf(check);
  if (result === 'NOT CONSISTENT') throw new CliError('the replicas differ');
  if (result === 'incomplete') {
    throw new TimeoutError(`no response in time from ${unanswered(check.members).join(', ')}`);
  }
}

interface Added {
  readonly member: { readonly id: string };
}

function configureSnapshots(command: Command, context: CommandContext): void {
  const snapshot = command.command('snapshot').description('back up and restore');
  snapshot
    .command('save <file>')
    .description('write a backup of everything at one revision to a new file')
    .action(async (file: string) => {
      const [{ saveTo }, { client }] = await Promise.all([
        import('../cluster/offline.js'),
        context.session(),
      ]);
      const answer = await client.stream('GET', '/cluster/snapshot');
      context.io.out(await saveTo(file, answer.body));
    });
  snapshot
    .command('status <file>')
    .description('verify a backup and show its content')
    .option('-o, --output <format>', 'json or yaml')
    .action(async (file: string, options: Output) => {
      const { inspect } = await import('../cluster/offline.js');
      const facts = await inspect(file);
      show(context, options, facts, () => Object.entries(facts).map(([k, v]) => [k, String(v)]));
    });
  snapshot
    .command('restore <file>')
    .description(
      'create the data directory of one replica of a new cluster; use the same file, members and token for each replica. Revisions jump far ahead, so that clients list again',
    )
    .requiredOption('--data-dir <directory>', 'data directory to create; must be empty or missing')
    .option('--member-name <name>', 'name of this replica', 'default')
    .option('--initial-cluster <members>', 'name=https://host:port,... of all replicas')
    .option('--initial-cluster-token <word>', 'distinguishes clusters', 'cluster')
    .action(async (file: string, options: RestoreOptions) => {
      const { restore } = await import('../cluster/offline.js');
      context.io.out(await restore(file, options));
    });
}

function configureReencryption(command: Command, context: CommandContext): void {
  command
    .command('reencrypt')
    .description(
      'write all objects that an older key encrypted again under the first key of --encryption-provider-config, on every server of which it must be the first; then older keys can be removed',
    )
    .action(async () => {
      const { reencrypt } = await import('../cluster/reencrypt.js');
      const page = (after: string | undefined) =>
        ask<ReencryptionPage>(context, 'POST', '/cluster/reencrypt', after ? { after } : {});
      await reencrypt(page, context.io);
    });
}

async function ask<Answer>(
  context: CommandContext,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  const { client } = await context.session();
  return (await client.request(method, path, body && { body })).json<Answer>();
}

function show(
  context: CommandContext,
  { output }: Output,
  value: object,
  rows: () => readonly (readonly string[])[],
): void {
  const format = outputFormat(output);
  const text =
    format.kind === 'table' ? new TableWriter().format(rows()) : objectText(value, format, '');
  context.io.out(text);
}
