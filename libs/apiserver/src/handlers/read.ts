/** Get, list and watch. */
import { badRequest, notFound } from '@orch/apimachinery';
import type { Entry } from '@orch/store';
import { resourceVersionWaitMs } from '../limits.js';
import { listObjects, versionFailure } from '../registry/list.js';
import { timeLeftMs } from '../registry/registry-parts.js';
import { parseSelection, type Selection } from '../registry/selection.js';
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
  const { served, info } = call;
  const representation = objectRepresentation(call);
  checkViewFits(representation, false);
  const options = viewOptions(call, representation);
  const entry = await readEntry(call);
  if (!entry) throw notFound(served.groupResource, info.name);
  sendObject(call, 200, entry, options);
}

/** The object of the call at the version it asks for. Throws 400 for what is no version, 504. */
export async function readEntry(call: Call): Promise<Entry | undefined> {
  const { parts, served, info, query } = call;
  const consistency = getConsistency(query);
  const leftMs = timeLeftMs(parts, call.deadlineMs);
  const waits = consistency.kind === 'notOlderThan';
  try {
    const { entry } = await parts.store.get(served.resource.key(info.namespace, info.name), {
      consistency,
      timeoutMs: waits ? Math.min(leftMs, resourceVersionWaitMs) : leftMs,
    });
    return entry;
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
  const name = info.watchPath ? info.name : '';
  checkNameFits(selection, name);
  const target = {
    served,
    namespace: info.namespace,
    name,
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

/** A field selector beside a name in the path must ask for that name. Throws 400. */
function checkNameFits({ fields, name: selected }: Selection, name: string): void {
  if (name === '' || fields.everything || selected === name) return;
  throw badRequest("fieldSelector metadata.name doesn't match requested name");
}
