/** `orchctl top`: the usage of nodes and pods, from the API of resource metrics. */
import type { ApiList, ApiObject } from '@orch/client';
import { dialect } from '@orch/component';
import type { Node } from '@orch/types/core/v1';
import type { NodeMetrics, PodMetrics } from '@orch/types/metrics/v1beta1';
import type { Command } from 'commander';
import { CliError, UsageError } from '../command-line/errors.js';
import { TableWriter } from '../output/table.js';
import {
  readObjects,
  refuseSelectors,
  type SelectorOptions,
  selectorQuery,
} from '../resources/requests.js';
import type { CommandContext, Configure } from '../session/command-context.js';
import type { Session } from '../session/session.js';
import { nodeRows, podRows, type SortKey, sortKeys } from '../top/usage-table.js';

interface TopOptions extends SelectorOptions {
  readonly sortBy?: string;
  readonly headers: boolean;
}

interface TopPodsOptions extends TopOptions {
  readonly containers?: boolean;
}

export const configureTop: Configure = (command, context) => {
  subcommand(command, 'nodes', ['node', 'no'], 'CPU and memory of nodes').action(
    (name: string | undefined, options: TopOptions) => topNodes(context, name, options),
  );
  subcommand(command, 'pods', ['pod', 'po'], 'CPU and memory of pods')
    .option('-A, --all-namespaces', 'in all namespaces')
    .option('--containers', 'print the containers of each pod')
    .action((name: string | undefined, options: TopPodsOptions) => topPods(context, name, options));
};

function subcommand(
  command: Command,
  name: string,
  aliases: readonly string[],
  description: string,
): Command {
  return command
    .command(name)
    .aliases([...aliases])
    .description(description)
    .argument('[name]', 'only this one')
    .option('-l, --selector <query>', 'labels to select by, such as app=web,tier!=cache')
    .option('--field-selector <query>', 'fields to select by, such as metadata.name=web')
    .option('--sort-by <resource>', 'cpu or memory, the highest usage first')
    .option('--no-headers', 'omit the header line');
}

async function topNodes(
  context: CommandContext,
  name: string | undefined,
  options: TopOptions,
): Promise<void> {
  const sortKey = sortKeyOf(options);
  const session = await context.session();
  const metrics = await readMetrics<NodeMetrics>(session, 'nodes', name, options);
  const type = await session.catalog.type('nodes');
  const nodes: Node[] = await readObjects(session, type, name === undefined ? [] : [name], options);
  if (nodes.length === 0) context.io.err('No resources found\n');
  else print(context, nodeRows(nodes, metrics, sortKey), options);
}

async function topPods(
  context: CommandContext,
  name: string | undefined,
  options: TopPodsOptions,
): Promise<void> {
  const sortKey = sortKeyOf(options);
  if (name !== undefined && options.allNamespaces) {
    throw new UsageError('a resource cannot be retrieved by name across all namespaces');
  }
  const session = await context.session();
  const withNamespace = options.allNamespaces ?? false;
  const path = withNamespace ? 'pods' : `namespaces/${session.namespace}/pods`;
  const metrics = await readMetrics<PodMetrics>(session, path, name, options);
  if (metrics.length === 0) return reportNone(context, session, options);
  const perContainer = options.containers ?? false;
  print(context, podRows(metrics, { withNamespace, perContainer, sortKey }), options);
}

/** Pods without metrics are an error, unless there are no pods. */
async function reportNone(
  { io }: CommandContext,
  session: Session,
  options: TopOptions,
): Promise<void> {
  const pods = await readObjects(session, await session.catalog.type('pods'), [], options);
  if (pods.length > 0) {
    throw new CliError(
      'no metrics yet: the pods do not run, or their nodes have not measured them; retry in ten seconds',
    );
  }
  const where = options.allNamespaces ? '' : ` in ${session.namespace} namespace`;
  io.err(`No resources found${where}.\n`);
}

function sortKeyOf({ sortBy }: TopOptions): SortKey | undefined {
  if (sortBy === undefined) return undefined;
  const key = sortKeys.find((known) => known === sortBy.toLowerCase());
  if (!key) throw new UsageError(`--sort-by: want cpu or memory, got ${sortBy}`);
  return key;
}

async function readMetrics<T extends ApiObject>(
  { client, catalog }: Session,
  path: string,
  name: string | undefined,
  options: TopOptions,
): Promise<readonly T[]> {
  const apiVersion = dialect().apiVersion('metrics', 'v1beta1');
  if (!catalog.groupVersions().includes(apiVersion)) {
    throw new CliError(`the server does not serve ${apiVersion}: no metrics server is installed`);
  }
  const base = `/apis/${apiVersion}/${path}`;
  if (name !== undefined) {
    refuseSelectors(options);
    return [(await client.request('GET', `${base}/${encodeURIComponent(name)}`)).json<T>()];
  }
  const query = selectorQuery(options);
  return (await client.request('GET', base, { query })).json<ApiList<T>>().items;
}

function print({ io }: CommandContext, rows: readonly string[][], { headers }: TopOptions): void {
  io.out(new TableWriter().format(headers ? rows : rows.slice(1)));
}
