/**
 * `orchctl explain-scheduling POD`: queries the scheduler that leads. The Lease of the scheduler
 * names its URL; the credentials of the session are sent there, over TLS with the authority of the
 * cluster, and the scheduler lets the API server authorize them.
 */
import {
  ApiError,
  isNotFound,
  type PodReport,
  RestClient,
  resources,
  restClientOptions,
  servingUrlOf,
  TransportError,
} from '@orch/client';
import { dialect } from '@orch/component';
import { CliError, UsageError } from '../command-line/errors.js';
import { explanationText } from '../describe/pod-explanation.js';
import { yamlText } from '../output/object-text.js';
import type { CommandContext, Configure } from '../session/command-context.js';
import { connectionFrom } from '../session/connection.js';
import type { Session } from '../session/session.js';

interface ExplainFlags {
  readonly output?: string;
  readonly allNodes?: boolean;
  readonly schedulerUrl?: string;
  readonly schedulerLease?: string;
}

/** Rows of nodes without `--all-nodes`. */
const shownNodeCount = 10;
const requestTimeoutMs = 30_000;
const urlFlag =
  'give --scheduler-url, for example that of a forwarded port: https://localhost:10259';

export const configureExplainScheduling: Configure = (command, context) => {
  command
    .argument('<pod>', 'name of the pod')
    .option('-o, --output <format>', 'json or yaml; default: a summary and a table of nodes')
    .option('--all-nodes', `list all nodes instead of the first ${shownNodeCount}`)
    .option('--scheduler-url <url>', 'URL of the scheduler; default: that of the lease holder')
    .option('--scheduler-lease <name>', 'name of the Lease of the scheduler; default: its own')
    .action(async (name: string, flags: ExplainFlags) => {
      const { output } = flags;
      if (output !== undefined && output !== 'json' && output !== 'yaml') {
        throw new UsageError(`-o: want json or yaml, got ${output}`);
      }
      if (flags.schedulerUrl && !isHttpsUrl(flags.schedulerUrl)) {
        throw new UsageError(`--scheduler-url: want an https URL, got "${flags.schedulerUrl}"`);
      }
      const session = await context.session();
      const pod = `${session.namespace}/${name.replace(/^pods?\//, '')}`;
      const explanation = await queryScheduler(context, session, pod, flags);
      if (output === 'json') context.io.out(`${JSON.stringify(explanation, null, 4)}\n`);
      else if (output === 'yaml') context.io.out(yamlText(explanation));
      else {
        const nodeCountMax = flags.allNodes ? Number.POSITIVE_INFINITY : shownNodeCount;
        context.io.out(explanationText(explanation, nodeCountMax));
      }
    });
};

async function queryScheduler(
  context: CommandContext,
  session: Session,
  pod: string,
  { schedulerUrl, schedulerLease }: ExplainFlags,
): Promise<PodReport> {
  const connection = connectionFrom(context.globals);
  if (connection.impersonateUser) {
    throw new CliError('explain-scheduling: the scheduler does not support impersonation (--as)');
  }
  const { tlsServerName: _ofApiServer, ...options } = restClientOptions(connection);
  const url = schedulerUrl ?? (await leaderUrl(session, schedulerLease));
  const client = new RestClient({ ...options, servers: [url], qps: 0, requestTimeoutMs });
  try {
    const request = { query: { pod }, sendOnce: true };
    const response = await client.request('GET', '/debug/explain-scheduling', request);
    return response.json<PodReport>();
  } catch (error) {
    if (error instanceof TransportError) {
      throw new CliError(`cannot connect to the scheduler at ${url}: ${error.message}; ${urlFlag}`);
    }
    if (error instanceof ApiError) {
      throw new CliError(`scheduler at ${url}: ${error.message}`);
    }
    throw error;
  } finally {
    await client.close();
  }
}

/** Returns the URL in the Lease of the scheduler. Throws CliError if there is none. */
async function leaderUrl({ client }: Session, leaseName: string | undefined): Promise<string> {
  const name = leaseName ?? dialect().systemName('scheduler');
  const namespace = dialect().systemNamespace;
  try {
    const lease = await client.resource(resources.leases, namespace).get(name);
    const url = servingUrlOf(lease);
    if (url === undefined) {
      throw new CliError(`lease ${namespace}/${name} has no URL of a scheduler; ${urlFlag}`);
    }
    if (!isHttpsUrl(url)) throw new CliError(`lease ${namespace}/${name}: "${url}" is not https`);
    return url;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new CliError(`no scheduler leads: lease ${namespace}/${name} not found; ${urlFlag}`);
  }
}

function isHttpsUrl(text: string): boolean {
  return text.startsWith('https://') && URL.canParse(text);
}
