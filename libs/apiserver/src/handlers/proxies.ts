/** Requests handed on to nodes, pods and services: every method, every path below, upgrades too. */
import { badRequest, serviceUnavailable } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { Endpoints, Node, Pod, Service } from '@orch/types/core/v1';
import ipaddr from 'ipaddr.js';
import { forward, notReached, type Target } from '../proxy/forward.js';
import { rewriteFor } from '../proxy/rewrite.js';
import { parseTargetName, pathBelow, portNumber } from '../proxy/target-name.js';
import { headersFor, writeHead } from '../response/exchange.js';
import type { Call, Handler } from './call.js';
import {
  addressOf,
  agentPort,
  agentTarget,
  type NodeAgentTls,
  readCore,
  readNode,
} from './node-agents.js';

type Place = Pick<Target, 'scheme' | 'host' | 'port'>;

export function nodeProxyHandler(tls: NodeAgentTls): Handler {
  return proxyHandler(async (call, path) => {
    const { scheme, name, port } = parseTargetName(call.info.name, 'node');
    const node = await readNode(call, name);
    const wanted = port === '' ? agentPort(node) : portNumber(port);
    if (wanted === undefined) throw badRequest(`invalid node port ${JSON.stringify(port)}`);
    if (wanted === agentPort(node)) return agentTarget(node, path, tls);
    const host = addressOf(node, tls.addressTypes);
    return { scheme: scheme || 'http', host, port: wanted, path, unreachable: notReached };
  });
}

export function podProxyHandler(): Handler {
  return proxyHandler(async (call, path) => {
    const { scheme, name, port } = parseTargetName(call.info.name, 'pod');
    const pod = await readCore<Pod>(call, 'pods', call.info.namespace, name);
    const own = pod.spec?.containers?.flatMap(({ ports = [] }) => ports)[0]?.containerPort;
    const wanted = port === '' ? (own ?? (scheme === 'https' ? 443 : 80)) : portNumber(port);
    if (wanted === undefined) throw badRequest(`invalid pod port ${JSON.stringify(port)}`);
    const host = await reached(call, pod.status?.podIP ?? '', pod.spec?.nodeName);
    return { scheme: scheme || 'http', host, port: wanted, path, unreachable: notReached };
  });
}

export function serviceProxyHandler(): Handler {
  return proxyHandler(async (call, path) => {
    const place = await servicePlace(call);
    return { ...place, path, unreachable: notReached };
  });
}

async function servicePlace(call: Call): Promise<Place> {
  const { namespace } = call.info;
  const { scheme, name, port } = parseTargetName(call.info.name, 'service');
  const service = await readCore<Service>(call, 'services', namespace, name);
  const portName = servicePortName(service, name, port);
  const endpoints = await readCore<Endpoints>(call, 'endpoints', namespace, name);
  const places = (endpoints.subsets ?? []).flatMap(({ addresses = [], ports = [] }) =>
    ports
      .filter((one) => (one.name ?? '') === portName)
      .flatMap((one) => addresses.map((address) => ({ address, port: one.port }))),
  );
  const chosen = places[Math.floor(call.parts.random() * places.length)];
  if (!chosen) {
    throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(name)}`);
  }
  const host = await reached(call, chosen.address.ip ?? '', chosen.address.nodeName);
  return { scheme: scheme || 'http', host, port: chosen.port };
}

/** Ports of endpoints are known by the names of the service's ports. */
function servicePortName(service: Service, name: string, port: string): string {
  const number = portNumber(port);
  if (number === undefined) return port;
  const found = (service.spec?.ports ?? []).find((one) => one.port === number);
  if (found) return found.name ?? '';
  throw serviceUnavailable(`no service port ${number} found for service ${JSON.stringify(name)}`);
}

/**
 * Where this address of a pod is reached. Addresses of the API server's own machine and link are not
 * for clients to reach through it. Pods of a loopback node listen on the counterpart in 127/8.
 */
async function reached(call: Call, ip: string, nodeName: string | undefined): Promise<string> {
  if (!ipaddr.isValid(ip)) throw badRequest('address not allowed');
  const range = ipaddr.process(ip).range();
  if (['loopback', 'linkLocal', 'unspecified', 'multicast', 'broadcast'].includes(range)) {
    throw badRequest('address not allowed');
  }
  if (!nodeName) return ip;
  const node = await readNode(call, nodeName).catch((): Node => ({}));
  const kind = node.metadata?.annotations?.[dialect().key('pod-addresses', 'node')];
  return kind === 'loopback' ? ip.replace(/^\d+/, '127') : ip;
}

function proxyHandler(resolve: (call: Call, path: string) => Promise<Target>): Handler {
  return async (call) => {
    const { exchange, info, query } = call;
    const { method } = exchange.request;
    const below = pathBelow(info.path, info.rest.length);
    const search = query.isEmpty ? '' : `?${query.toString()}`;
    const target = await resolve(call, `${below || '/'}${search}`);
    const isRead = method === 'GET' || method === 'HEAD';
    if (below === '' && isRead && !exchange.upgrade) {
      // Links of a page are relative to its path, which therefore ends in a slash.
      exchange.headers.location = `${info.path}/${search}`;
      writeHead(exchange, 301, headersFor(exchange, 'text/plain; charset=utf-8'));
      exchange.response.end();
      return;
    }
    const prefix = info.path.slice(0, info.path.length - below.length);
    await forward(call, target, rewriteFor(target, prefix));
  };
}
