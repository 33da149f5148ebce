/** Replaces an object, or the part of it that a subresource writes, with the body of a PUT. */
import type { ApiObject } from '@orch/api';
import { isStatus } from '@orch/apimachinery';
import {
  type Admission,
  asDryRun,
  checkIdentity,
  objectStrategy,
  type ResourceStore,
  toStoredShape,
  type UpdateStrategy,
} from '@orch/registry';
import type { RequestContext } from '../http/request-context.js';
import { expectedOf } from '../request/decode-object.js';
import { singleView } from '../request/representation.js';
import { requireCreate } from '../request/require-create.js';
import { decodeSent, readSentBody } from '../request/sent-body.js';
import { parseWriteOptions } from '../request/write-options.js';
import { sendObject } from '../response/send-object.js';
import type { Handler } from './handler.js';

export function replaceHandler(admission: Admission): Handler {
  return (context, store) =>
    replacePart(context, store, admission, objectStrategy(store.served), true);
}

/**
 * Replaces what `strategy` writes. `mayCreate`: a missing object is created if its kind allows it.
 */
export async function replacePart(
  context: RequestContext,
  store: ResourceStore,
  admission: Admission,
  strategy: UpdateStrategy,
  mayCreate: boolean,
): Promise<void> {
  const { served } = store;
  const { namespace, name } = context.info;
  const view = singleView(context);
  const body = await readSentBody(context);
  const options = parseWriteOptions(context.query, 'UpdateOptions');
  const decode = () => toStoredShape(served, decodeSent(context, body, expectedOf(served)));
  // Attempts change their are given: each decodes an object of its own, the first one this.
  let first: ApiObject | undefined = decode();
  checkIdentity(first, namespace, name);
  context.setOptions(options);
  context.trackOwnership(options.fieldManager);
  const uid = first.metadata?.uid ?? '';
  const produce = () => {
    const object = first ?? decode();
    first = undefined;
    return object;
  };
  try {
    const entry = await store.update(context.key, { strategy, produce, uid }, context);
    sendObject(context, served, 200, entry, view);
  } catch (error) {
    if (!isStatus(error, 'NotFound')) throw error;
    const object = decode();
    checkIdentity(object, namespace, name);
    if (!mayCreate || !served.definition.createOnUpdate) {
      await admitCreate(context, store, admission, strategy, object);
      throw error;
    }
    await requireCreate(context);
    delete object.metadata?.resourceVersion;
    const entry = await store.create(namespace, object, context);
    sendObject(context, served, 201, entry, view);
  }
}

/**
 * Runs create admission before returning 404, so that a missing namespace is reported first. Kinds
 * that allocate are looked up before admission.
 */
async function admitCreate(
  context: RequestContext,
  { served }: ResourceStore,
  admission: Admission,
  { subresource }: UpdateStrategy,
  object: ApiObject,
): Promise<void> {
  if (served.definition.allocate) return;
  const { namespace, name } = context.info;
  await admission.mutate({
    operation: 'CREATE',
    served,
    namespace,
    name,
    subresource,
    object,
    old: undefined,
    context: asDryRun(context),
  });
}
