/** Actions on pods: their common steps, and the binding of a pod to a node. */
import type { ApiObject } from '@orch/api';
import {
  badRequest,
  type Codec,
  codecFor,
  conflict,
  fieldError,
  fieldErrorMessage,
  fieldSetOf,
  formatTime,
  pathNotFound,
} from '@orch/apimachinery';
import { dialect } from '@orch/component';
import {
  type Admission,
  checkIdentity,
  type ObjectKey,
  type Registry,
  type ResourceStore,
  type ServedResource,
  type UpdateStrategy,
} from '@orch/registry';
import type { Binding, Pod } from '@orch/types/core/v1';
import type { RequestContext } from '../http/request-context.js';
import { admitAction } from '../request/admit-action.js';
import { decodeBody } from '../request/decode-object.js';
import { plainRepresentation } from '../request/representation.js';
import { readSentBody } from '../request/sent-body.js';
import { parseWriteOptions } from '../request/write-options.js';
import { sendStatus } from '../response/status.js';
import type { Handler } from './handler.js';

/** The object in the body, which must be of the type of the codec. */
export async function readObject<T extends ApiObject>(
  context: RequestContext,
  codec: Codec<T>,
): Promise<T> {
  const dot = codec.name.lastIndexOf('.');
  const [groupHead = '', version = ''] = codec.name.slice(0, dot).split('/');
  const { bytes, format } = await readSentBody(context);
  return decodeBody(bytes, format, {
    apiVersion: dialect().apiVersion(groupHead, version),
    kind: codec.name.slice(dot + 1),
    groupHead,
    codec,
  });
}

export function sendCreated(context: RequestContext): void {
  sendStatus(context, 201, plainRepresentation(context), {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    code: 201,
  });
}

/** The object in the body must be about the pod in the path. Throws 400. */
export function checkName(key: ObjectKey, object: ApiObject, kind: string): void {
  const { name = '' } = object.metadata ?? {};
  if (name !== key.name) {
    throw badRequest(`name in URL does not match name in ${kind} object`);
  }
  checkIdentity(object, key.namespace, key.name);
}

const bindingType = 'core/v1.Binding';

function bindingErrors(binding: Binding): string[] {
  const { kind = '', name = '' } = binding.target ?? {};
  const errors = [];
  if (kind !== '' && kind !== 'Node') {
    errors.push(fieldError.notSupported('target.kind', kind, ['Node', '<empty>']));
  }
  if (name === '') errors.push(fieldError.required('target.name'));
  return errors.map(fieldErrorMessage);
}

/** A binding writes the node's name, annotations and the condition that the pod is scheduled. */
const bindingStrategy: UpdateStrategy = {
  subresource: 'binding',
  resetFields: fieldSetOf(),
  prepare: () => undefined,
  validate: () => [],
};

export function bindingHandler({ admission }: Registry): Handler {
  return async (context, store) => {
    plainRepresentation(context);
    const binding = await readObject(context, codecFor<Binding>(bindingType));
    await bindPod(context, admission, { pods: store, sentTo: store.served }, binding);
  };
}

/** The older form, where only the body names the pod. */
export function namedBindingHandler(registry: Registry): Handler {
  return async (context) => {
    plainRepresentation(context);
    const binding = await readObject(context, codecFor<Binding>(bindingType));
    const { name = '' } = binding.metadata ?? {};
    if (name === '') throw badRequest('Name parameter required.');
    const pods = registry.table.inStoredVersion('core', 'pods');
    if (!pods) throw pathNotFound();
    const sentTo = context.served ?? pods;
    await bindPod(context, registry.admission, { pods: registry.store(pods), sentTo }, binding);
  };
}

interface BindingTarget {
  readonly pods: ResourceStore;
  /** The resource that the request names. */
  readonly sentTo: ServedResource;
}

async function bindPod(
  context: RequestContext,
  admission: Admission,
  { pods, sentTo }: BindingTarget,
  binding: Binding,
): Promise<void> {
  const key = { namespace: context.info.namespace, name: binding.metadata?.name ?? '' };
  if (context.info.name !== '') key.name = context.info.name;
  context.setOptions(parseWriteOptions(context.query, 'CreateOptions'));
  checkName(key, binding, 'Binding');
  const sent = { object: binding, schemaType: bindingType };
  await admitAction(context, admission, sentTo, sent);
  const errors = bindingErrors(binding);
  if (errors.length > 0) throw badRequest(errors.join(', '));
  const produce = (existing: Pod) => {
    const refusal = bindingRefusal(existing, key.name);
    if (refusal !== '') {
      throw conflict({ group: '', resource: 'pods/binding' }, key.name, refusal);
    }
    return bound(existing, binding, context.nowMs);
  };
  const update = { strategy: bindingStrategy, produce, uid: '', review: 'none' } as const;
  await pods.update(key, update, context);
  sendCreated(context);
}

function bindingRefusal(pod: Pod, name: string): string {
  if (pod.metadata?.deletionTimestamp !== undefined) {
    return `pod ${name} is being deleted, cannot be assigned to a host`;
  }
  const { nodeName = '' } = pod.spec ?? {};
  return nodeName === ''
    ? ''
    : `pod ${name} is already assigned to node ${JSON.stringify(nodeName)}`;
}

/** The pod on its node. Shares what a binding does not change with `pod`. */
function bound(pod: Pod, binding: Binding, nowMs: number): Pod {
  const metadata = { ...pod.metadata, resourceVersion: '' };
  const { annotations } = binding.metadata ?? {};
  if (annotations) metadata.annotations = { ...metadata.annotations, ...annotations };
  const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'PodScheduled');
  const lastTransitionTime = formatTime(nowMs);
  return {
    ...pod,
    metadata,
    spec: { ...pod.spec, nodeName: binding.target?.name },
    status: {
      ...pod.status,
      conditions: [...others, { type: 'PodScheduled', status: 'True', lastTransitionTime }],
    },
  };
}
