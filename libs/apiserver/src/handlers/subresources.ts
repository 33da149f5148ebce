/** The subresources: which resources have them, their verbs, and their handlers. */
import type { ApiObject, ResourceDefinition, SubresourceStatus } from '@orch/api';
import { partStrategy, type Registry, type ServedResource } from '@orch/registry';
import type { ServiceAccountTokens } from '@orch/security';
import type { PodLogMetrics } from '../observability/pod-log-metrics.js';
import { admitConnection } from './admit-connection.js';
import { ephemeralContainersHandler, ephemeralContainersName } from './ephemeral-containers.js';
import { evictionHandler } from './eviction.js';
import type { Handler } from './handler.js';
import type { NodeAgentTls } from './node-agents.js';
import { patchPart } from './patch.js';
import { bindingHandler } from './pod-actions.js';
import { podLogHandler } from './pod-logs.js';
import { podCommandHandler, portForwardHandler } from './pod-streams.js';
import { nodeProxyHandler, podProxyHandler, serviceProxyHandler } from './proxies.js';
import { handleGet } from './read.js';
import { replacePart } from './replace.js';
import { scaleHandler } from './scale.js';
import { tokenRequestHandler } from './token-request.js';

export interface Subresource {
  readonly name: string;
  /** The kind of its objects, for discovery. */
  readonly kind: string;
  /** Group head and version of the kind, if they differ from those of the resource. */
  readonly from?: { readonly groupHead: string; readonly version: string };
  /** In the order of discovery. */
  readonly verbs: readonly string[];
  /** Its responses may stream: no deadline, and not counted as in flight. */
  readonly longRunning: boolean;
  /** Its handler takes every method and every path below. */
  readonly isProxy?: boolean;
  readonly handle: Handler;
}

export interface SubresourceDependencies {
  readonly registry: Registry;
  readonly nodeAgents: NodeAgentTls;
  readonly podLogs: PodLogMetrics;
  readonly serviceAccountTokens: ServiceAccountTokens;
}

/** Sorted by name; those of custom resources in the order of declaration. */
export function subresourcesOf(
  served: ServedResource,
  dependencies: SubresourceDependencies,
): Subresource[] {
  const { definition } = served;
  const all = [
    ...partsOf(served, dependencies.registry),
    ...viewsOf(served),
    ...(coreSubresources[`${definition.stored.group}/${definition.plural}`]?.(dependencies) ?? []),
  ];
  return definition.custom ? all : all.sort((a, b) => (a.name < b.name ? -1 : 1));
}

const readAndWrite = ['get', 'patch', 'update'];

/** Subresources whose body is the whole object, of which they write a part. */
function partsOf(target: ServedResource, registry: Registry): Subresource[] {
  const { definition, served } = target;
  const { kind, status, approval, finalize } = definition;
  const part = (name: string, of: SubresourceStatus<ApiObject>, verbs: readonly string[]) => {
    const handle = partHandler(target, name, of, registry);
    return { name, kind, verbs, longRunning: false, handle };
  };
  return [
    ...(status && !served.withoutStatus ? [part('status', status, readAndWrite)] : []),
    ...(approval ? [part('approval', approval, readAndWrite)] : []),
    ...(finalize ? [part('finalize', finalize, ['update'])] : []),
  ];
}

function partHandler(
  served: ServedResource,
  name: string,
  part: SubresourceStatus<ApiObject>,
  { admission }: Registry,
): Handler {
  const strategy = partStrategy(served, name, part);
  return (context, store) => {
    if (context.info.verb === 'get') return handleGet(context, store);
    if (context.info.verb === 'patch') return patchPart(context, store, strategy);
    return replacePart(context, store, admission, strategy, false);
  };
}

/** Subresources that show a part of the object as a kind of its own. */
function viewsOf(served: ServedResource): Subresource[] {
  const { definition, features } = served;
  const { scale, ephemeralContainers }: ResourceDefinition = definition;
  const views: Subresource[] = [];
  if (scale) {
    views.push({
      name: 'scale',
      kind: 'Scale',
      from: { groupHead: 'autoscaling', version: 'v1' },
      verbs: readAndWrite,
      longRunning: false,
      handle: scaleHandler(scale),
    });
  }
  if (ephemeralContainers && features.enabled('EphemeralContainers')) {
    views.push({
      name: ephemeralContainersName,
      kind: 'EphemeralContainers',
      verbs: readAndWrite,
      longRunning: false,
      handle: ephemeralContainersHandler(served, ephemeralContainers),
    });
  }
  return views;
}

/** Subresources of single kinds, by group head and plural. */
const coreSubresources: Readonly<
  Record<string, (dependencies: SubresourceDependencies) => Subresource[]>
> = {
  'core/pods': podSubresources,
  'core/nodes': ({ registry, nodeAgents }) => [
    proxy(registry, 'NodeProxyOptions', nodeProxyHandler(registry, nodeAgents)),
  ],
  'core/services': ({ registry }) => [
    proxy(registry, 'ServiceProxyOptions', serviceProxyHandler(registry)),
  ],
  'core/serviceaccounts': ({ registry, serviceAccountTokens }) => [
    {
      ...action('token', 'TokenRequest', tokenRequestHandler(registry, serviceAccountTokens)),
      from: { groupHead: 'authentication', version: 'v1' },
    },
  ],
};

function podSubresources({
  registry,
  nodeAgents,
  podLogs,
}: SubresourceDependencies): Subresource[] {
  const command = (name: 'exec' | 'attach') => podCommandHandler(name, registry, nodeAgents);
  const stream = (name: string, kind: string, handle: Handler) =>
    connection(registry, { name, kind, handle, verbs: ['create', 'get'] });
  return [
    action('binding', 'Binding', bindingHandler(registry)),
    {
      ...action('eviction', 'Eviction', evictionHandler(registry)),
      from: { groupHead: 'policy', version: 'v1beta1' },
    },
    {
      name: 'log',
      kind: 'Pod',
      verbs: ['get'],
      longRunning: true,
      handle: podLogHandler(registry, nodeAgents, podLogs),
    },
    stream('attach', 'PodAttachOptions', command('attach')),
    stream('exec', 'PodExecOptions', command('exec')),
    stream('portforward', 'PodPortForwardOptions', portForwardHandler(registry, nodeAgents)),
    proxy(registry, 'PodProxyOptions', podProxyHandler(registry)),
  ];
}

function action(name: string, kind: string, handle: Handler): Subresource {
  return { name, kind, verbs: ['create'], longRunning: false, handle };
}

/** A subresource whose requests are admitted as connections; `kind` is that of their options. */
function connection(
  { admission }: Registry,
  subresource: Omit<Subresource, 'longRunning'>,
): Subresource {
  const { kind, handle } = subresource;
  return {
    ...subresource,
    longRunning: true,
    async handle(context, store) {
      await admitConnection(context, admission, store.served, kind);
      return handle(context, store);
    },
  };
}

function proxy(registry: Registry, kind: string, handle: Handler): Subresource {
  const verbs = ['create', 'delete', 'get', 'patch', 'update'];
  return connection(registry, { name: 'proxy', kind, verbs, isProxy: true, handle });
}
