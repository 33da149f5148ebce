/** Get, list and watch. */
import { notFound } from '@orch/apimachinery';
import { resourceVersionWaitMs } from '../limits.js';
import { listObjects, versionFailure } from '../registry/list.js';
import { timeLeftMs } from '../registry/registry-parts.js';
import { parseSelection } from '../registry/selection.js';
import { getConsistency, parseListRequest, parseWatchRequest } from '../request/list-options.js';
import { checkViewFits, contentTypeOf } from '../request/media-types.js';
import { encodeList } from '../response/encode-list.js';
import { isCutOff } from '../response/exchange.js';
import { sendGathered } from '../response/gather.js';
import { ActiveWatch, type WatchObserver, watchStart } from '../watch/serve-watch.js';
import {
  type Call,
  includeOf,
  objectRepresentation,
  sendObject,
  streamRepresentation,
  viewOptions,
} from './call.js';

export async function handleGet(call: Call): Promise<void> {
  const { parts, served, info, query } = call;
  const representation = objectRepresentation(call);
  checkViewFits(representation, false);
  const consistency = getConsistency(query);
  const options = viewOptions(call, representation);
  const leftMs = timeLeftMs(parts, call.deadlineMs);
  const waits = consistency.kind === 'notOlderThan';
  try {
    const { entry } = await parts.store.get(served.resource.key(info.namespace, info.name), {
      consistency,
      timeoutMs: waits ? Math.min(leftMs, resourceVersionWaitMs) : leftMs,
    });
    if (!entry) throw notFound(served.groupResource, info.name);
    sendObject(call, 200, entry, options);
  } catch (error) {
    throw versionFailure(error, consistency, false);
  }
}

export async function handleList(call: Call): Promise<void> {
  const { parts, served, info, query, exchange } = call;
  const representation = objectRepresentation(call);
  checkViewFits(representation, true);
  const options = viewOptions(call, representation);
  const request = parseListRequest(query, parts.features.enabled('APIListChunking'));
  const selection = parseSelection(served, request.labelSelector, request.fieldSelector);
  const deadlineMs =
    request.timeoutSeconds > 0
      ? Math.min(call.deadlineMs, parts.clock.monotonicMs() + request.timeoutSeconds * 1_000)
      : call.deadlineMs;
  const outcome = await listObjects(parts, served, info.namespace, request, selection, deadlineMs);
  const gathered = await encodeList(served, outcome, options);
  await sendGathered(
    exchange,
    contentTypeOf(representation.format),
    gathered,
    timeLeftMs(parts, call.deadlineMs),
  );
}

/** Resolves when the watch has begun; it goes on by itself. */
export async function handleWatch(call: Call, observer: WatchObserver): Promise<void> {
  const { parts, served, info, query, exchange } = call;
  const representation = streamRepresentation(call);
  checkViewFits(representation, false);
  const include = includeOf(call, representation);
  const request = parseWatchRequest(query);
  const selection = parseSelection(served, request.labelSelector, request.fieldSelector);
  const target = {
    served,
    namespace: info.namespace,
    name: info.watchPath ? info.name : '',
    selection,
    request,
    representation,
    include,
  };
  const { initial, revision } = await watchStart(parts, target, call.deadlineMs);
  if (isCutOff(exchange.response)) return;
  const watch = new ActiveWatch(parts, exchange, target, observer);
  await watch.run(initial, revision);
}
