/** Creates an object from the body of a POST. */
import { type ResourceStore, toStoredShape } from '@orch/registry';
import type { RequestContext } from '../http/request-context.js';
import { expectedOf } from '../request/decode-object.js';
import { singleView } from '../request/representation.js';
import { decodeSent, readSentBody } from '../request/sent-body.js';
import { parseWriteOptions } from '../request/write-options.js';
import { sendObject } from '../response/send-object.js';

export async function handleCreate(context: RequestContext, store: ResourceStore): Promise<void> {
  const { served } = store;
  const view = singleView(context);
  const body = await readSentBody(context);
  const options = parseWriteOptions(context.query, 'CreateOptions');
  const object = toStoredShape(served, decodeSent(context, body, expectedOf(served)));
  context.setOptions(options);
  context.trackOwnership(options.fieldManager);
  const entry = await store.create(context.info.namespace, object, context);
  sendObject(context, served, 201, entry, view);
}
