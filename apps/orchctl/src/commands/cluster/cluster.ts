/** `orchctl cluster`: the replicas of the API server, their leader, and backups. */
import type { Command } from 'commander';
import type { CommandContext, Configure } from '../../lib/context.js';
import { CliError, TimeoutError } from '../../lib/errors.js';
import { objectText, outputFormat } from '../../lib/output.js';
import { TableWriter } from '../../lib/table.js';
import {
  type ClusterCheck,
  type ClusterView,
  checkRows,
  memberRows,
  unanswered,
  verdictOf,
} from './views.js';

interface Output {
  readonly output?: string;
}

export const configureCluster: Configure = (command, context) => {
  const shown = (name: string, description: string) =>
    command.command(name).description(description).option('-o, --output <format>', 'json or yaml');
  shown('status', 'show every replica as it is now').action(async (options: Output) => {
    const view = await ask<ClusterView>(context, 'GET', '/cluster/status');
    show(context, options, view, () => memberRows(view, true));
  });
  shown('members', 'show who the replicas are').action(async (options: Output) => {
    const view = await ask<ClusterView>(context, 'GET', '/cluster/status');
    show(context, options, view, () => memberRows(view, false));
  });
  shown('check', 'compare the content of all replicas at one revision').action(
    async (options: Output) => {
      const check = await ask<ClusterCheck>(context, 'GET', '/cluster/check');
      show(context, options, check, () => checkRows(check));
      failUnlessConsistent(check);
    },
  );
  shown('add-member <name>', 'add a replica as a learner; it counts for nothing until promoted')
    .requiredOption('--peer-url <url>', 'https://host:port at which the others will reach it')
    .option('--client-url <url>', 'where clients will reach its API')
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
    .description('remove a replica, by id or name; its data directory cannot come back')
    .action(async (member: string) => {
      await ask(context, 'DELETE', `/cluster/members/${encodeURIComponent(member)}`);
      context.io.out(`removed ${member}\n`);
    });
  command
    .command('promote <member>')
    .description('make a learner that has caught up a voter, by id or name')
    .action(async (member: string) => {
      await ask(context, 'POST', `/cluster/members/${encodeURIComponent(member)}/promote`);
      context.io.out(`${member} is a voter\n`);
    });
  command
    .command('move-leader [member]')
    .description('give the lead to a voter, by id or name, or to the most up-to-date one')
    .action(async (to: string | undefined) => {
      const view = await ask<ClusterView>(context, 'POST', '/cluster/leader', to ? { to } : {});
      const leader = view.members.find(({ id }) => id === view.leader);
      context.io.out(`${leader?.name ?? view.leader} leads\n`);
    });
  configureSnapshots(command, context);
  command
    .command('recover')
    .description(
      'make a cluster of one out of the one data directory that is left; the server must not run. What the others had acknowledged without this one is lost',
    )
    .requiredOption('--data-dir <directory>', 'data directory of the surviving API server')
    .action(async (options: { dataDir: string }) => {
      const { recover } = await import('./offline.js');
      context.io.out(await recover(options.dataDir));
    });
};

/** Throws CliError when replicas differ, TimeoutError when some have not told theirs. */
function failUnlessConsistent(check: ClusterCheck): void {
  const verdict = verdictOf(check);
  if (verdict === 'NOT CONSISTENT') throw new CliError('the replicas differ');
  if (verdict === 'incomplete') {
    throw new TimeoutError(`no hash in time from ${unanswered(check.members).join(', ')}`);
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
        import('./offline.js'),
        context.session(),
      ]);
      const answer = await client.stream('GET', '/cluster/snapshot');
      context.io.out(await saveTo(file, answer.body));
    });
  snapshot
    .command('status <file>')
    .description('verify a backup and show what it holds')
    .option('-o, --output <format>', 'json or yaml')
    .action(async (file: string, options: Output) => {
      const { inspect } = await import('./offline.js');
      const facts = await inspect(file);
      show(context, options, facts, () => Object.entries(facts).map(([k, v]) => [k, String(v)]));
    });
  snapshot
    .command('restore <file>')
    .description(
      'make the data directory of one replica of a new cluster; the same file, members and token for each of them. Revisions move far ahead, so that clients list anew',
    )
    .requiredOption('--data-dir <directory>', 'data directory to make; must be empty or absent')
    .option('--member-name <name>', 'of this replica', 'default')
    .option('--initial-cluster <members>', 'name=https://host:port,... of all replicas')
    .option('--initial-cluster-token <word>', 'tells clusters apart', 'cluster')
    .action(async (file: string, options: RestoreOptions) => {
      const { restore } = await import('./offline.js');
      context.io.out(await restore(file, options));
    });
}

export interface RestoreOptions {
  readonly dataDir: string;
  readonly memberName: string;
  readonly initialCluster?: string;
  readonly initialClusterToken: string;
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
