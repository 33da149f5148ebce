/** Deletes an object, or every selected object of a collection. */
import { codecFor, StatusError } from '@orch/apimachinery';
import {
  type DeleteOptions,
  type DeleteResult,
  objectOf,
  parseSelection,
  type ResourceStore,
} from '@orch/registry';
import type { Entry } from '@orch/store';
import type { RequestContext } from '../http/request-context.js';
import { deleteCollectionConcurrency } from '../limits.js';
import { contentTypeOf } from '../request/accept.js';
import { decodeBody, deleteOptionsExpected } from '../request/decode-object.js';
import { parseListRequest } from '../request/list-options.js';
import type { ViewOptions } from '../request/representation.js';
import { listView, singleView } from '../request/representation.js';
import { readSentBody } from '../request/sent-body.js';
import {
  checkDryRunEnabled,
  type DeleteOptionsBody,
  parseDeleteOptions,
} from '../request/write-options.js';
import { encodeList } from '../response/encode-list.js';
import { sendGathered } from '../response/gather.js';
import { sendObject } from '../response/send-object.js';
import { sendStatus } from '../response/status.js';

export async function handleDelete(context: RequestContext, store: ResourceStore): Promise<void> {
  const view = singleView(context);
  const options = await readDeleteOptions(context);
  context.dryRun = options.dryRun;
  const result = await store.delete(context.key, options, context);
  sendDeleted(context, store, view, result);
}

/** The options of a delete: from the body if there is one, else from the query. Throws 400. */
async function readDeleteOptions(context: RequestContext): Promise<DeleteOptions> {
  const { query, features } = context;
  const { bytes, format } = await readSentBody(context);
  if (bytes.length === 0) return parseDeleteOptions(query, undefined);
  const expected = deleteOptionsExpected(codecFor<DeleteOptionsBody>('meta/v1.DeleteOptions'));
  const sent = decodeBody(bytes, format, expected);
  if (sent.dryRun?.length) checkDryRunEnabled(features);
  return parseDeleteOptions(query, sent);
}

function sendDeleted(
  context: RequestContext,
  { served }: ResourceStore,
  view: ViewOptions,
  { entry, removed }: DeleteResult,
): void {
  const { definition, group } = served;
  if (!removed || definition.deleteReturnsObject) {
    sendObject(context, served, 200, entry, view);
    return;
  }
  const uid = objectOf(entry).metadata?.uid ?? '';
  sendStatus(context, 200, view.representation, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name: context.info.name,
      ...(group !== '' && { group }),
      kind: definition.plural,
      ...(uid !== '' && { uid }),
    },
  });
}

/** Responds with the objects as they were before the request. */
export async function handleDeleteCollection(
  context: RequestContext,
  store: ResourceStore,
): Promise<void> {
  const { query, info, features, deadlineMs } = context;
  const { served } = store;
  const view = listView(context);
  const options = await readDeleteOptions(context);
  const request = parseListRequest(query, features.enabled('APIListChunking'));
  const selection = parseSelection(served, request.labelSelector, request.fieldSelector);
  const { namespace } = info;
  const list = await store.list({ namespace, request, selection, deadlineMs });
  context.dryRun = options.dryRun;
  await deleteAll(context, store, list.entries, options);
  const gathered = await encodeList(served, list, view);
  const contentType = contentTypeOf(view.representation.format);
  await sendGathered(context, contentType, gathered, context.timeLeftMs);
}

async function deleteAll(
  context: RequestContext,
  store: ResourceStore,
  entries: readonly Entry[],
  options: DeleteOptions,
): Promise<void> {
  const { resource } = store.served;
  let next = 0;
  const worker = async () => {
    for (let entry = entries[next++]; entry; entry = entries[next++]) {
      const namespace = resource.namespaceOfKey(entry.key);
      const name = resource.nameOfKey(entry.key);
      try {
        await store.delete({ namespace, name }, options, context);
      } catch (error) {
        // Deleted already, which is what the client wants.
        if (!(error instanceof StatusError) || error.reason !== 'NotFound') {
          next = entries.length;
          throw error;
        }
      }
    }
  };
  await Promise.all(Array.from({ length: deleteCollectionConcurrency }, worker));
}
