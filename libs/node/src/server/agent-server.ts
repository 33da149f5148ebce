/**
 * The HTTPS server of the agent: health, metrics, the pods of the node with their logs and
 * statistics, commands in containers and connections to pods.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Clock,
  ComponentServer,
  followServingFiles,
  type HealthChecks,
  type Logger,
  type Metrics,
  type PostReview,
  type ReloadedTls,
  servingMaterial,
} from '@orch/component';
import type { NodeAgentOptions } from '../node-agent-options.js';
import type { PodWorkers } from '../pods/pod-workers.js';
import type { Prober } from '../probes/prober.js';
import type { MachineInfo } from '../registration/machine-info.js';
import type { ContainerRuntime } from '../runtimes/container-runtime.js';
import type { StatsSampler } from '../stats/stats-sampler.js';
import { AgentAuthorizer } from './agent-authorizer.js';
import { serveContainerLog } from './container-logs.js';
import { decodeSegment } from './request/path-segment.js';
import { serveUsage } from './serve-usage.js';
import { serveRun } from './streams/serve-run.js';
import { StreamServer, streamEndpoints } from './streams/stream-server.js';

export interface AgentServerDependencies {
  readonly options: NodeAgentOptions;
  readonly nodeName: string;
  readonly runtime: ContainerRuntime;
  readonly workers: PodWorkers;
  readonly machine: MachineInfo;
  readonly stats: Pick<StatsSampler, 'snapshot'>;
  readonly prober: Pick<Prober, 'counts'>;
  readonly health: HealthChecks;
  readonly metrics: Metrics;
  readonly postReview: PostReview;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface AgentServer {
  readonly port: number;
  /** The certificates of the server. */
  readonly tls: ReloadedTls;
  stop(): Promise<void>;
}

/** Starts the server; its `port` is the listening port. */
export async function startAgentServer(
  dependencies: AgentServerDependencies,
): Promise<AgentServer> {
  const { options, nodeName, postReview, clock, logger } = dependencies;
  const streams = options.enableDebuggingHandlers ? new StreamServer(dependencies) : undefined;
  const material = await servingMaterial(options);
  const server = new ComponentServer({
    bindAddress: options.address,
    port: options.port,
    tls: { ...material, ...options.tls },
    health: dependencies.health,
    metrics: dependencies.metrics,
    authorizer: new AgentAuthorizer(options, nodeName, postReview, clock),
    alwaysAllowPaths: ['/healthz', '/livez', '/readyz'],
    configuration: () => ({ agent: options }),
    ...options.profiles,
    logger,
    fallback: (request, response) => handle(dependencies, request, response),
    ...(streams && { upgrade: (...upgrade) => streams.upgrade(...upgrade) }),
  });
  await server.start();
  const tls = followServingFiles(options, material, server, logger);
  return {
    port: server.port,
    tls,
    async stop() {
      tls.stop();
      await server.stop();
    },
  };
}

/** Handles the request; returns false for an unknown path. */
function handle(
  dependencies: AgentServerDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  const url = new URL(request.url ?? '/', 'http://node');
  const [first, ...rest] = url.pathname.split('/').slice(1).map(decodeSegment);
  const work = serve(dependencies, first ?? '', rest, url.searchParams, request, response);
  if (!work) return false;
  work.catch((error: unknown) => {
    dependencies.logger.error({ err: error, path: url.pathname }, 'request failed');
    if (response.headersSent) response.destroy();
    else response.writeHead(500).end('internal server error\n');
  });
  return true;
}

function serve(
  dependencies: AgentServerDependencies,
  first: string,
  rest: readonly string[],
  parameters: URLSearchParams,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> | undefined {
  if (first === 'pods' && rest.length === 0) return servePods(dependencies, response);
  const usage = serveUsage(dependencies, [first, ...rest].join('/'), parameters, response);
  if (usage) return usage;
  if (!dependencies.options.enableDebuggingHandlers) return undefined;
  if (first === 'run') return serveRun(dependencies, rest, parameters, response);
  if (streamEndpoints.has(first)) return rejectWithoutUpgrade(response);
  if (first !== 'containerLogs') return undefined;
  const [namespace, pod, container] = rest;
  if (!namespace || !pod || !container || rest.length > 3) return undefined;
  return serveContainerLog(
    dependencies,
    { namespace, pod, container },
    parameters,
    request,
    response,
  );
}

async function rejectWithoutUpgrade(response: ServerResponse): Promise<void> {
  response.writeHead(400, { 'content-type': 'text/plain; charset=utf-8' });
  response.end('unable to upgrade: missing upgrade headers in request\n');
}

async function servePods(
  { workers }: AgentServerDependencies,
  response: ServerResponse,
): Promise<void> {
  send(response, { kind: 'PodList', apiVersion: 'v1', metadata: {}, items: workers.pods() });
}

function send(response: ServerResponse, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}
