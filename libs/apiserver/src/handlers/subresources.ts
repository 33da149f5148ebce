/** Which subresources a served resource has, with what they answer and which verbs they take. */
import type { ApiObject, SubresourceStatus } from '@orch/api';
import type { ServiceAccountTokens } from '../authentication/service-account-tokens.js';
import type { PodLogMetrics } from '../observability/pod-log-metrics.js';
import type { ServedResource } from '../registry/resource.js';
import { partStrategy } from '../registry/strategies.js';
import type { Call, Handler } from './call.js';
import { ephemeralContainersHandler, ephemeralContainersName } from './ephemeral-containers.js';
import { handleEviction } from './eviction.js';
import type { NodeAgentTls } from './node-agents.js';
import { patchWith } from './patch.js';
import { handleBinding } from './pod-actions.js';
import { podLogHandler } from './pod-logs.js';
import { podCommandHandler, portForwardHandler } from './pod-streams.js';
import { nodeProxyHandler, podProxyHandler, serviceProxyHandler } from './proxies.js';
import { handleGet } from './read.js';
import { scaleHandler } from './scale.js';
import { tokenRequestHandler } from './token-request.js';
import { replaceWith } from './write.js';

export interface Subresource {
  readonly name: string;
  /** Kind it answers with, in discovery; group head and version when they are not the resource's own. */
  readonly kind: string;
  readonly from?: { readonly groupHead: string; readonly version: string };
  /** In the order of discovery. */
  readonly verbs: readonly string[];
  /** Its answers may go on for long: no deadline, and not counted as in flight. */
  readonly longRunning: boolean;
  /** Any method and any path below it goes to its handler. */
  readonly isProxy?: boolean;
  readonly handle: Handler;
}

function partHandler(name: string, part: SubresourceStatus<ApiObject>): Handler {
  const strategy = partStrategy(name, part as SubresourceStatus<object>);
  return (call: Call) => {
    if (call.info.verb === 'get') return handleGet(call);
    if (call.info.verb === 'patch') return patchWith(call, strategy);
    return replaceWith(call, strategy, false);
  };
}

function proxySubresource(kind: string, handle: Handler): Subresource {
  const verbs = ['create', 'delete', 'get', 'patch', 'update'];
  return { name: 'proxy', kind, verbs, longRunning: true, isProxy: true, handle };
}

function streamSubresource(name: string, kind: string, handle: Handler): Subresource {
  return { name, kind, verbs: ['create', 'get'], longRunning: true, handle };
}

function podSubresources(tls: NodeAgentTls, logs: PodLogMetrics): Subresource[] {
  return [
    {
      name: 'binding',
      kind: 'Binding',
      verbs: ['create'],
      longRunning: false,
      handle: handleBinding,
    },
    {
      name: 'eviction',
      kind: 'Eviction',
      from: { groupHead: 'policy', version: 'v1beta1' },
      verbs: ['create'],
      longRunning: false,
      handle: handleEviction,
    },
    {
      name: 'log',
      kind: 'Pod',
      verbs: ['get'],
      longRunning: true,
      handle: podLogHandler(tls, logs),
    },
    streamSubresource('attach', 'PodAttachOptions', podCommandHandler('attach', tls)),
    streamSubresource('exec', 'PodExecOptions', podCommandHandler('exec', tls)),
    streamSubresource('portforward', 'PodPortForwardOptions', portForwardHandler(tls)),
    proxySubresource('PodProxyOptions', podProxyHandler()),
  ];
}

/** What some subresources work with. */
export interface SubresourceParts {
  readonly nodeAgents: NodeAgentTls;
  readonly podLogs: PodLogMetrics;
  readonly serviceAccountTokens: ServiceAccountTokens;
}

/** Sorted by name; of custom resources the status first. */
export function subresourcesOf(served: ServedResource, parts: SubresourceParts): Subresource[] {
  const { definition } = served;
  const { kind, status, finalize, approval, scale, ephemeralContainers } = definition;
  const all: Subresource[] = [];
  if (status && !served.served.withoutStatus) {
    all.push({
      name: 'status',
      kind,
      verbs: ['get', 'patch', 'update'],
      longRunning: false,
      handle: partHandler('status', status),
    });
  }
  if (approval) {
    all.push({
      name: 'approval',
      kind,
      verbs: ['get', 'patch', 'update'],
      longRunning: false,
      handle: partHandler('approval', approval),
    });
  }
  if (finalize) {
    all.push({
      name: 'finalize',
      kind,
      verbs: ['update'],
      longRunning: false,
      handle: partHandler('finalize', finalize),
    });
  }
  if (scale) {
    all.push({
      name: 'scale',
      kind: 'Scale',
      from: { groupHead: 'autoscaling', version: 'v1' },
      verbs: ['get', 'patch', 'update'],
      longRunning: false,
      handle: scaleHandler(scale),
    });
  }
  if (ephemeralContainers && served.features.enabled('EphemeralContainers')) {
    all.push({
      name: ephemeralContainersName,
      kind: 'EphemeralContainers',
      verbs: ['get', 'patch', 'update'],
      longRunning: false,
      handle: ephemeralContainersHandler(ephemeralContainers),
    });
  }
  if (definition.stored.group === 'core') {
    if (definition.plural === 'pods') {
      all.push(...podSubresources(parts.nodeAgents, parts.podLogs));
    }
    if (definition.plural === 'nodes') {
      all.push(proxySubresource('NodeProxyOptions', nodeProxyHandler(parts.nodeAgents)));
    }
    if (definition.plural === 'services') {
      all.push(proxySubresource('ServiceProxyOptions', serviceProxyHandler()));
    }
    if (definition.plural === 'serviceaccounts') {
      all.push({
        name: 'token',
        kind: 'TokenRequest',
        from: { groupHead: 'authentication', version: 'v1' },
        verbs: ['create'],
        longRunning: false,
        handle: tokenRequestHandler(parts.serviceAccountTokens),
      });
    }
  }
  if (definition.custom) return all;
  return all.sort((a, b) => (a.name < b.name ? -1 : 1));
}
