/** Get, list and watch. */
import { badRequest, notFound } from '@orch/apimachinery';
import type { Awaitable } from '@orch/component';
import { parseSelection, type ResourceStore, type Selection } from '@orch/registry';
import type { Entry } from '@orch/store';
import type { RequestContext } from '../http/request-context.js';
import { isClosed } from '../http/respond.js';
import { contentTypeOf } from '../request/accept.js';
import { getConsistency, parseListRequest, parseWatchRequest } from '../request/list-options.js';
import {
  checkViewFits,
  includeOf,
  listView,
  singleView,
  streamRepresentation,
} from '../request/representation.js';
import type { CompressedLists } from '../response/compressed-lists.js';
import { encodeList } from '../response/encode-list.js';
import { sendGathered } from '../response/gather.js';
import { sendObject } from '../response/send-object.js';
import { ActiveWatch, type WatchDependencies, watchStart } from '../watch/serve-watch.js';
import type { Handler } from './handler.js';

export async function handleGet(context: RequestContext, store: ResourceStore): Promise<void> {
  const { served } = store;
  const view = singleView(context);
  const read = readEntry(context, store);
  // Without a promise there is nothing to wait for.
  const entry = read instanceof Promise ? await read : read;
  if (!entry) throw notFound(served.groupResource, context.info.name);
  sendObject(context, served, 200, entry, view);
}

/** The object of the request at the version that the query names. Fails with 400 and 504. */
export function readEntry(
  context: RequestContext,
  store: ResourceStore,
): Awaitable<Entry | undefined> {
  return store.get(context.key, getConsistency(context.query), context.deadlineMs);
}

export function listHandler(compressed: CompressedLists): Handler {
  return (context, store) => handleList(context, store, compressed);
}

async function handleList(
  context: RequestContext,
  store: ResourceStore,
  compressed: CompressedLists,
): Promise<void> {
  const { query, info, features, startMs } = context;
  const { served } = store;
  const view = listView(context);
  const request = parseListRequest(query, features.enabled('APIListChunking'));
  const selection = parseSelection(served, request.labelSelector, request.fieldSelector);
  const { timeoutSeconds } = request;
  const deadlineMs =
    timeoutSeconds > 0
      ? Math.min(context.deadlineMs, startMs + timeoutSeconds * 1_000)
      : context.deadlineMs;
  const { namespace } = info;
  const list = await store.list({ namespace, request, selection, deadlineMs });
  const gathered = await encodeList(served, list, view);
  const contentType = contentTypeOf(view.representation.format);
  const restOf = compressed.finderFor({ served, list, request, namespace, view });
  await sendGathered(context, contentType, gathered, context.timeLeftMs, restOf);
}

/** Resolves when the watch has started; the watch continues on its own. */
export function watchHandler(dependencies: WatchDependencies): Handler {
  return async (context, store) => {
    const { query, info, response, deadlineMs } = context;
    const { served } = store;
    const representation = streamRepresentation(context);
    checkViewFits(representation, false);
    const include = includeOf(context, representation);
    const request = parseWatchRequest(query);
    const selection = parseSelection(served, request.labelSelector, request.fieldSelector);
    const name = info.watchPath ? info.name : '';
    checkNameFits(selection, name);
    const { namespace } = info;
    const target = { store, namespace, name, selection, request, representation, include };
    const { initial, revision } = await watchStart(dependencies.revisions, target, deadlineMs);
    if (isClosed(response)) return;
    const watch = new ActiveWatch(dependencies, context, target);
    await watch.run(initial, revision);
  };
}

/** A field selector beside a name in the path must select that name. Throws 400. */
function checkNameFits({ fields, name: selected }: Selection, name: string): void {
  if (name === '' || fields.everything || selected === name) return;
  throw badRequest("fieldSelector metadata.name doesn't match requested name");
}
