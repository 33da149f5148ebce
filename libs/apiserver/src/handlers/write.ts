/** Create, replace and the deletes. */
import type { ApiObject } from '@orch/api';
import { codecFor, isStatus, StatusError } from '@orch/apimachinery';
import type { Entry } from '@orch/store';
import { deleteCollectionConcurrency } from '../limits.js';
import { createObject } from '../registry/create.js';
import { type DeleteResult, deleteObject } from '../registry/delete.js';
import { objectOf } from '../registry/entry-view.js';
import { listObjects } from '../registry/list.js';
import { checkIdentity } from '../registry/object-metadata.js';
import { requestContext, timeLeftMs } from '../registry/registry-parts.js';
import { parseSelection } from '../registry/selection.js';
import { objectStrategy } from '../registry/strategies.js';
import { type UpdateStrategy, updateObject } from '../registry/update.js';
import {
  decodeBody,
  deleteOptionsExpected,
  expectedOf,
  toStoredShape,
} from '../request/decode-object.js';
import { parseListRequest } from '../request/list-options.js';
import {
  bodyFormat,
  checkViewFits,
  contentTypeOf,
  type Representation,
} from '../request/media-types.js';
import { readBody } from '../request/read-body.js';
import {
  checkDryRunEnabled,
  type DeleteOptions,
  type DeleteOptionsBody,
  parseDeleteOptions,
  parseWriteOptions,
} from '../request/write-options.js';
import { encodeList } from '../response/encode-list.js';
import { sendGathered } from '../response/gather.js';
import { sendStatus } from '../response/status.js';
import {
  type Call,
  fieldCheck,
  managedContext,
  objectRepresentation,
  sendObject,
  targetOf,
  viewOptions,
  writeContext,
} from './call.js';

export async function handleCreate(call: Call): Promise<void> {
  const { parts, served, info, query, exchange } = call;
  const representation = objectRepresentation(call);
  checkViewFits(representation, false);
  const format = bodyFormat(exchange.request.headers['content-type']);
  const options = viewOptions(call, representation);
  const body = await readBody(exchange);
  const writeOptions = parseWriteOptions(query, 'CreateOptions');
  const object = toStoredShape(
    served,
    decodeBody(body, format, expectedOf(served), fieldCheck(call)),
  );
  const context = managedContext(call, writeOptions);
  const entry = await createObject(parts, served, info.namespace, object, context);
  sendObject(call, 201, entry, options);
}

export function handleReplace(call: Call): Promise<void> {
  return replaceWith(call, objectStrategy(call.served), true);
}

/** Replaces the object, or the part of it that `strategy` writes. */
export async function replaceWith(
  call: Call,
  strategy: UpdateStrategy,
  mayCreate: boolean,
): Promise<void> {
  const { parts, served, info, query, exchange } = call;
  const representation = objectRepresentation(call);
  checkViewFits(representation, false);
  const format = bodyFormat(exchange.request.headers['content-type']);
  const options = viewOptions(call, representation);
  const body = await readBody(exchange);
  const writeOptions = parseWriteOptions(query, 'UpdateOptions');
  const check = fieldCheck(call);
  const decode = () => toStoredShape(served, decodeBody(body, format, expectedOf(served), check));
  let first: ApiObject | undefined = decode();
  checkIdentity(served, first, info.namespace, info.name);
  const context = managedContext(call, writeOptions);
  const uid = first.metadata?.uid ?? '';
  const produce = () => {
    const object = first ?? decode();
    first = undefined;
    return object;
  };
  try {
    const entry = await updateObject(parts, targetOf(call), { strategy, produce, uid }, context);
    sendObject(call, 200, entry, options);
  } catch (error) {
    if (!isStatus(error, 'NotFound')) throw error;
    const object = decode();
    checkIdentity(served, object, info.namespace, info.name);
    if (!mayCreate || !served.definition.createOnUpdate) {
      await admitNew(call, strategy, object);
      throw error;
    }
    delete object.metadata?.resourceVersion;
    const entry = await createObject(parts, served, info.namespace, object, context);
    sendObject(call, 201, entry, options);
  }
}

/**
 * What is not there is admitted as if it were to be created before it is missed, so that a replace in a
 * namespace that is not there is told of the namespace. Kinds that allocate are looked up before.
 */
async function admitNew(call: Call, strategy: UpdateStrategy, object: ApiObject): Promise<void> {
  const { parts, served, info, deadlineMs } = call;
  if (served.definition.allocate) return;
  await parts.admission.mutate({
    operation: 'CREATE',
    served,
    namespace: info.namespace,
    name: info.name,
    subresource: strategy.subresource,
    object,
    old: undefined,
    context: requestContext(parts, writeContext(call, true), served),
    deadlineMs,
  });
}

/** Options of a delete: the body when there is one, else the query. */
async function readDeleteOptions(call: Call): Promise<DeleteOptions> {
  const { exchange, query } = call;
  const { headers } = exchange.request;
  const format = bodyFormat(headers['content-type']);
  const body = await readBody(exchange);
  if (body.length === 0) return parseDeleteOptions(query, undefined);
  const expected = deleteOptionsExpected(codecFor('meta/v1.DeleteOptions'));
  const sent = decodeBody(body, format, expected) as DeleteOptionsBody;
  if (sent.dryRun?.length) checkDryRunEnabled(call.parts.features);
  return parseDeleteOptions(query, sent);
}

export async function handleDelete(call: Call): Promise<void> {
  const representation = objectRepresentation(call);
  checkViewFits(representation, false);
  const options = await readDeleteOptions(call);
  const context = writeContext(call, options.dryRun);
  const result = await deleteObject(call.parts, targetOf(call), options, context);
  answerDelete(call, representation, result);
}

function answerDelete(call: Call, representation: Representation, result: DeleteResult): void {
  const { served, info, exchange } = call;
  if (!result.removed || served.definition.deleteReturnsObject) {
    sendObject(call, 200, result.entry, viewOptions(call, representation));
    return;
  }
  const uid = objectOf(result.entry).metadata?.uid ?? '';
  sendStatus(exchange, 200, representation, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name: info.name,
      ...(served.group !== '' && { group: served.group }),
      kind: served.definition.plural,
      ...(uid !== '' && { uid }),
    },
  });
}

/** Answers with the objects as they were when asked to go. */
export async function handleDeleteCollection(call: Call): Promise<void> {
  const { parts, served, info, query, exchange } = call;
  const representation = objectRepresentation(call);
  checkViewFits(representation, true);
  const view = viewOptions(call, representation);
  const options = await readDeleteOptions(call);
  const request = parseListRequest(query, parts.features.enabled('APIListChunking'));
  const selection = parseSelection(served, request.labelSelector, request.fieldSelector);
  const outcome = await listObjects(
    parts,
    served,
    info.namespace,
    request,
    selection,
    call.deadlineMs,
  );
  await deleteAll(call, outcome.entries, options);
  const gathered = await encodeList(served, outcome, view);
  await sendGathered(
    exchange,
    contentTypeOf(representation.format),
    gathered,
    timeLeftMs(parts, call.deadlineMs),
  );
}

async function deleteAll(
  call: Call,
  entries: readonly Entry[],
  options: DeleteOptions,
): Promise<void> {
  const { parts, served } = call;
  const { resource } = served;
  const context = writeContext(call, options.dryRun);
  let next = 0;
  const worker = async () => {
    for (let entry = entries[next++]; entry; entry = entries[next++]) {
      const target = {
        served,
        namespace: resource.namespaceOfKey(entry.key),
        name: resource.nameOfKey(entry.key),
      };
      try {
        await deleteObject(parts, target, options, context);
      } catch (error) {
        // Gone already: that is what was asked for.
        if (!(error instanceof StatusError) || error.reason !== 'NotFound') {
          next = entries.length;
          throw error;
        }
      }
    }
  };
  await Promise.all(Array.from({ length: deleteCollectionConcurrency }, worker));
}
