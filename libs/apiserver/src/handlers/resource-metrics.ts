/**
 * Reads of the usage of nodes and pods. Objects without figures are left out of lists: nodes that
 * are not ready, pods that do not run, and everything that its agent has not measured yet.
 */
import { type ApiObject, mirrorAnnotation } from '@orch/api';
import { conditionOf, formatTime, notFound, type StatusError } from '@orch/apimachinery';
import {
  detachedEntry,
  objectOf,
  parseSelection,
  type Registry,
  type ServedResource,
} from '@orch/registry';
import type { Entry } from '@orch/store';
import type { Node, Pod } from '@orch/types/core/v1';
import type { ObjectMeta } from '@orch/types/meta/v1';
import type { NodeMetrics, PodMetrics } from '@orch/types/metrics/v1beta1';
import type { RequestContext } from '../http/request-context.js';
import { contentTypeOf } from '../request/accept.js';
import { parseListRequest } from '../request/list-options.js';
import { listView, singleView } from '../request/representation.js';
import { encodeList } from '../response/encode-list.js';
import { sendGathered } from '../response/gather.js';
import { sendObject } from '../response/send-object.js';
import type { Handler } from './handler.js';
import type { NodeSummaries } from './node-summaries.js';
import type { PodUsage } from './node-usage.js';

/** Node agents do not report the window of their rates; it is about this long. */
const windowText = '10s';

/** The metrics of one kind. */
interface MeasuredKind {
  /** The core resource that is measured. */
  readonly plural: 'nodes' | 'pods';
  /** Returns the metrics of the objects that have figures, in the same order. */
  measure(entries: readonly Entry[], deadlineMs: number): Promise<ApiObject[]>;
}

export function nodeMetricsHandler(registry: Registry, summaries: NodeSummaries): Handler {
  const measure = async (entries: readonly Entry[]) => {
    const nodes = entries.map((entry) => objectOf<Node>(entry)).filter(isReady);
    const usages = await summaries.read(nodes);
    return nodes.flatMap(({ metadata }): NodeMetrics[] => {
      const measured = usages.get(metadata?.name ?? '')?.node;
      if (!measured) return [];
      const { timestampMs, usage } = measured;
      return [{ ...headOf('NodeMetrics', metadata, timestampMs), usage }];
    });
  };
  return metricsHandler(registry, { plural: 'nodes', measure });
}

export function podMetricsHandler(registry: Registry, summaries: NodeSummaries): Handler {
  const measure = async (entries: readonly Entry[], deadlineMs: number) => {
    const pods = entries
      .map((entry) => objectOf<Pod>(entry))
      .filter(({ status }) => status?.phase === 'Running');
    const names = new Set(pods.map(({ spec }) => spec?.nodeName ?? ''));
    const store = registry.storeOf('nodes');
    const read = (name: string) => store.get({ namespace: '', name }, { kind: 'any' }, deadlineMs);
    const nodes = (await Promise.all([...names].map(read)))
      .flatMap((entry) => (entry ? [objectOf<Node>(entry)] : []))
      .filter(isReady);
    const usages = await summaries.read(nodes);
    return pods.flatMap((pod): PodMetrics[] => {
      const { namespace = '', name = '' } = pod.metadata ?? {};
      const usage = usages.get(pod.spec?.nodeName ?? '')?.pods.get(`${namespace}/${name}`);
      if (!usage || !isOf(usage, pod)) return [];
      const containers = usage.containers.map((container) => ({ ...container }));
      return [{ ...headOf('PodMetrics', pod.metadata, usage.timestampMs), containers }];
    });
  };
  return metricsHandler(registry, { plural: 'pods', measure });
}

/** Whether the figures are those of this pod, not of a predecessor with its name. */
function isOf({ uid }: PodUsage, { metadata }: Pod): boolean {
  // The agent knows a static pod by another uid than that of its mirror in the API.
  return uid === metadata?.uid || metadata?.annotations?.[mirrorAnnotation()] !== undefined;
}

function isReady({ status }: Node): boolean {
  return conditionOf(status?.conditions, 'Ready')?.status === 'True';
}

function headOf(kind: string, metadata: ObjectMeta | undefined, timestampMs: number) {
  const { name, namespace, labels } = metadata ?? {};
  const timestamp = formatTime(timestampMs);
  return {
    kind,
    metadata: {
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      creationTimestamp: timestamp,
      ...(labels && { labels }),
    },
    timestamp,
    window: windowText,
  };
}

function metricsHandler(registry: Registry, kind: MeasuredKind): Handler {
  return async (context, { served }) => {
    if (context.info.verb === 'list') return sendList(registry, context, served, kind);
    const { namespace, name } = context.info;
    const view = singleView(context);
    const { deadlineMs } = context;
    const store = registry.storeOf(kind.plural);
    const entry = await store.get({ namespace, name }, { kind: 'any' }, deadlineMs);
    const [metrics] = entry ? await kind.measure([entry], deadlineMs) : [];
    if (!metrics) throw notMeasured(served, namespace === '' ? name : `${namespace}/${name}`);
    return sendObject(context, served, 200, entryOf(served, metrics), view);
  };
}

/** The error names the kind, as that of the upstream metrics server does. */
function notMeasured({ definition, groupResource }: ServedResource, name: string): StatusError {
  return notFound({ ...groupResource, resource: definition.kind.toLowerCase() }, name);
}

async function sendList(
  registry: Registry,
  context: RequestContext,
  served: ServedResource,
  { plural, measure }: MeasuredKind,
): Promise<void> {
  const { query, features, info, deadlineMs } = context;
  const view = listView(context);
  const request = parseListRequest(query, features.enabled('APIListChunking'));
  // Metrics have the names and labels of the measured objects, which are read from memory.
  const store = registry.storeOf(plural);
  const selection = parseSelection(store.served, request.labelSelector, request.fieldSelector);
  const { entries: selected } = await store.list({
    namespace: info.namespace,
    request: { ...request, consistency: { kind: 'any' }, limit: 0, continueFrom: undefined },
    selection,
    deadlineMs,
  });
  const metrics = await measure(selected, deadlineMs);
  const entries = metrics.map((object) => entryOf(served, object));
  const revision = registry.rawStore.revision();
  const list = { entries, revision, continueToken: '', remainingCount: undefined };
  const gathered = await encodeList(served, list, view);
  const contentType = contentTypeOf(view.representation.format);
  return sendGathered(context, contentType, gathered, context.timeLeftMs);
}

function entryOf({ resource }: ServedResource, object: ApiObject): Entry {
  const { namespace = '', name = '' } = object.metadata ?? {};
  return detachedEntry(resource, object, resource.key(namespace, name));
}
