/**
 * Proxied requests to nodes, pods and services: every method, every path below, upgrades included.
 */
import { badRequest, serviceUnavailable } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { Registry } from '@orch/registry';
import type { Endpoints, Node, Pod, Service } from '@orch/types/core/v1';
import ipaddr from 'ipaddr.js';
import type { RequestContext } from '../http/request-context.js';
import { headersFor, writeHead } from '../http/respond.js';
import { forward, notReached, type Target } from '../proxy/forward.js';
import { rewriteFor } from '../proxy/rewrite.js';
import { parseTargetName, pathBelow, portNumber } from '../proxy/target-name.js';
import type { Handler } from './handler.js';
import {
  addressOf,
  agentPort,
  agentTarget,
  type NodeAgentTls,
  readCore,
  readNode,
} from './node-agents.js';

type HostPort = Pick<Target, 'scheme' | 'host' | 'port'>;

export function nodeProxyHandler(registry: Registry, tls: NodeAgentTls): Handler {
  return proxyHandler(async (context, path) => {
    const { scheme, name, port } = parseTargetName(context.info.name, 'node');
    const node = await readNode(registry, context, name);
    const wanted = port === '' ? agentPort(node) : portNumber(port);
    if (wanted === undefined) throw badRequest(`invalid node port ${JSON.stringify(port)}`);
    if (wanted === agentPort(node)) return agentTarget(node, path, tls);
    const host = addressOf(node, tls.addressTypes);
    return { scheme: scheme || 'http', host, port: wanted, path, unreachable: notReached };
  });
}

export function podProxyHandler(registry: Registry): Handler {
  return proxyHandler(async (context, path) => {
    const { scheme, name, port } = parseTargetName(context.info.name, 'pod');
    const pod = await readCore<Pod>(registry, context, 'pods', context.info.namespace, name);
    const own = pod.spec?.containers?.flatMap(({ ports = [] }) => ports)[0]?.containerPort;
    const wanted = port === '' ? (own ?? (scheme === 'https' ? 443 : 80)) : portNumber(port);
    if (wanted === undefined) throw badRequest(`invalid pod port ${JSON.stringify(port)}`);
    const host = await reachableHost(
      registry,
      context,
      pod.status?.podIP ?? '',
      pod.spec?.nodeName,
    );
    return { scheme: scheme || 'http', host, port: wanted, path, unreachable: notReached };
  });
}

export function serviceProxyHandler(registry: Registry): Handler {
  return proxyHandler(async (context, path) => {
    const endpoint = await serviceEndpoint(registry, context);
    return { ...endpoint, path, unreachable: notReached };
  });
}

async function serviceEndpoint(registry: Registry, context: RequestContext): Promise<HostPort> {
  const { namespace } = context.info;
  const { scheme, name, port } = parseTargetName(context.info.name, 'service');
  const service = await readCore<Service>(registry, context, 'services', namespace, name);
  const portName = servicePortName(service, name, port);
  const endpoints = await readCore<Endpoints>(registry, context, 'endpoints', namespace, name);
  const candidates = (endpoints.subsets ?? []).flatMap(({ addresses = [], ports = [] }) =>
    ports
      .filter((candidate) => (candidate.name ?? '') === portName)
      .flatMap(({ port: number }) => addresses.map((address) => ({ address, port: number }))),
  );
  const chosen = candidates[Math.floor(registry.random() * candidates.length)];
  if (!chosen) {
    throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(name)}`);
  }
  const { ip = '', nodeName } = chosen.address;
  const host = await reachableHost(registry, context, ip, nodeName);
  return { scheme: scheme || 'http', host, port: chosen.port };
}

/** Ports of endpoints have the names of the service's ports. */
function servicePortName(service: Service, name: string, port: string): string {
  const number = portNumber(port);
  if (number === undefined) return port;
  const found = (service.spec?.ports ?? []).find((candidate) => candidate.port === number);
  if (found) return found.name ?? '';
  throw serviceUnavailable(`no service port ${number} found for service ${JSON.stringify(name)}`);
}

/**
 * The address at which a pod is reached. Clients must not reach the API server's own machine and
 * link through it. Pods of a loopback node listen on the counterpart in 127/8.
 */
async function reachableHost(
  registry: Registry,
  context: RequestContext,
  ip: string,
  nodeName: string | undefined,
): Promise<string> {
  if (!ipaddr.isValid(ip)) throw badRequest('address not allowed');
  const range = ipaddr.process(ip).range();
  if (['loopback', 'linkLocal', 'unspecified', 'multicast', 'broadcast'].includes(range)) {
    throw badRequest('address not allowed');
  }
  if (!nodeName) return ip;
  const node = await readNode(registry, context, nodeName).catch((): Node => ({}));
  const kind = node.metadata?.annotations?.[dialect().key('pod-addresses', 'node')];
  return kind === 'loopback' ? ip.replace(/^\d+/, '127') : ip;
}

function proxyHandler(
  resolve: (context: RequestContext, path: string) => Promise<Target>,
): Handler {
  return async (context) => {
    const { info, query, request, response, upgrade } = context;
    const { method } = request;
    const below = pathBelow(info.path, info.rest.length);
    const search = query.isEmpty ? '' : `?${query.toString()}`;
    const target = await resolve(context, `${below || '/'}${search}`);
    const isRead = method === 'GET' || method === 'HEAD';
    if (below === '' && isRead && !upgrade) {
      // Links of a page are relative to its path, which therefore ends in a slash.
      context.headers.location = `${info.path}/${search}`;
      writeHead(context, 301, headersFor(context, 'text/plain; charset=utf-8'));
      response.end();
      return;
    }
    const prefix = info.path.slice(0, info.path.length - below.length);
    await forward(context, target, rewriteFor(target, prefix));
  };
}
