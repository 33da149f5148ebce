/**
 * The agent's own HTTPS server: health, metrics, the pods of the node, their logs, their stats, commands in
 * them and connections to them.
 */
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Clock,
  ComponentServer,
  type HealthChecks,
  type Logger,
  type Metrics,
  type PostReview,
  servingPair,
} from '@orch/component';
import type { NodeAgentOptions } from '../node-agent-options.js';
import type { PodWorkers } from '../pods/pod-workers.js';
import { type HostFacts, hostPressure } from '../registration/host-facts.js';
import type { ContainerRuntime } from '../runtimes/container-runtime.js';
import { AgentAuthorizer } from './agent-authorizer.js';
import { serveContainerLog } from './container-logs.js';
import { statsSummary } from './stats-summary.js';
import { serveRun } from './streams/serve-run.js';
import { StreamServer, streamEndpoints } from './streams/stream-server.js';

export interface AgentServerParts {
  readonly options: NodeAgentOptions;
  readonly nodeName: string;
  readonly runtime: ContainerRuntime;
  readonly workers: PodWorkers;
  readonly facts: HostFacts;
  readonly health: HealthChecks;
  readonly metrics: Metrics;
  readonly postReview: PostReview;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Starts it; its `port` is the one it got. */
export async function startAgentServer(parts: AgentServerParts): Promise<ComponentServer> {
  const { options, nodeName, postReview, clock, logger } = parts;
  const streams = options.enableDebuggingHandlers ? new StreamServer(parts) : undefined;
  const server = new ComponentServer({
    bindAddress: options.address,
    port: options.port,
    tls: {
      pair: await servingPair(options),
      minVersion: options.tlsMinVersion,
      ...(options.clientCaFile
        ? { clientAuthoritiesPem: readFileSync(options.clientCaFile, 'utf8') }
        : {}),
    },
    health: parts.health,
    metrics: parts.metrics,
    authorizer: new AgentAuthorizer(options, nodeName, postReview, clock),
    alwaysAllowPaths: ['/healthz', '/livez', '/readyz'],
    profiling: false,
    logger,
    fallback: (request, response) => answer(parts, request, response),
    ...(streams && { upgrade: (...upgrade) => streams.upgrade(...upgrade) }),
  });
  await server.start();
  return server;
}

function answer(
  parts: AgentServerParts,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  const url = new URL(request.url ?? '/', 'http://node');
  const [first, ...rest] = url.pathname.split('/').slice(1).map(decodeURIComponent);
  const work = serve(parts, first ?? '', rest, url.searchParams, request, response);
  if (!work) return false;
  work.catch((error: unknown) => {
    parts.logger.error({ err: error, path: url.pathname }, 'request failed');
    if (response.headersSent) response.destroy();
    else response.writeHead(500).end('internal server error\n');
  });
  return true;
}

function serve(
  parts: AgentServerParts,
  first: string,
  rest: readonly string[],
  parameters: URLSearchParams,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> | undefined {
  if (first === 'pods' && rest.length === 0) return servePods(parts, response);
  if (first === 'stats' && rest[0] === 'summary') return serveStats(parts, response);
  if (!parts.options.enableDebuggingHandlers) return undefined;
  if (first === 'run') return serveRun(parts, rest, parameters, response);
  if (streamEndpoints.has(first)) return refuseWithoutUpgrade(response);
  if (first !== 'containerLogs') return undefined;
  const [namespace, pod, container] = rest;
  if (!namespace || !pod || !container || rest.length > 3) return undefined;
  return serveContainerLog(parts, { namespace, pod, container }, parameters, request, response);
}

async function refuseWithoutUpgrade(response: ServerResponse): Promise<void> {
  response.writeHead(400, { 'content-type': 'text/plain; charset=utf-8' });
  response.end('unable to upgrade: missing upgrade headers in request\n');
}

async function servePods({ workers }: AgentServerParts, response: ServerResponse): Promise<void> {
  send(response, { kind: 'PodList', apiVersion: 'v1', metadata: {}, items: workers.pods() });
}

async function serveStats(parts: AgentServerParts, response: ServerResponse): Promise<void> {
  const { nodeName, runtime, facts, options, clock } = parts;
  const host = { ...hostPressure(options.rootDirectory), memoryBytes: facts.memoryBytes };
  const stats = await runtime.listContainerStats();
  send(response, statsSummary(nodeName, stats, host, clock.nowMs()));
}

function send(response: ServerResponse, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}
