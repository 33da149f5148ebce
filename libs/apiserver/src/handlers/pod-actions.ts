/** Actions on pods: what they share, and assigning a pod to a node. */
import type { ApiObject } from '@orch/api';
import {
  badRequest,
  codecFor,
  conflict,
  fieldError,
  fieldErrorMessage,
  formatTime,
  pathNotFound,
  setOfFields,
} from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { Entry } from '@orch/store';
import type { Binding, Pod } from '@orch/types/core/v1';
import { freshObject } from '../registry/entry-view.js';
import { checkIdentity } from '../registry/object-metadata.js';
import { type UpdateStrategy, updateObject } from '../registry/update.js';
import { decodeBody } from '../request/decode-object.js';
import { bodyFormat } from '../request/media-types.js';
import { readBody } from '../request/read-body.js';
import { parseWriteOptions } from '../request/write-options.js';
import { sendStatus } from '../response/status.js';
import { type Call, plainRepresentation, targetOf, writeContext } from './call.js';

export async function readObject(call: Call, schemaType: string): Promise<ApiObject> {
  const at = schemaType.lastIndexOf('.');
  const [groupHead = '', version = ''] = schemaType.slice(0, at).split('/');
  const format = bodyFormat(call.exchange.request.headers['content-type']);
  return decodeBody(await readBody(call.exchange), format, {
    apiVersion: dialect().apiVersion(groupHead, version),
    kind: schemaType.slice(at + 1),
    groupHead,
    codec: codecFor(schemaType),
  });
}

export function sendCreated(call: Call): void {
  sendStatus(call.exchange, 201, plainRepresentation(call), {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    code: 201,
  });
}

export function checkName(call: Call, object: ApiObject, kind: string): void {
  const { name = '' } = object.metadata ?? {};
  if (name !== call.info.name) {
    throw badRequest(`name in URL does not match name in ${kind} object`);
  }
  checkIdentity(call.served, object, call.info.namespace, call.info.name);
}

function bindingErrors(binding: Binding): string[] {
  const { kind = '', name = '' } = binding.target ?? {};
  const errors = [];
  if (kind !== '' && kind !== 'Node') {
    errors.push(fieldError.notSupported('target.kind', kind, ['Node', '<empty>']));
  }
  if (name === '') errors.push(fieldError.required('target.name'));
  return errors.map(fieldErrorMessage);
}

/** A binding writes the node's name and, with it, annotations and the condition that it is scheduled. */
const bindingStrategy: UpdateStrategy = {
  subresource: 'binding',
  resetFields: setOfFields(),
  prepare: () => undefined,
  validate: () => [],
};

export async function handleBinding(call: Call): Promise<void> {
  plainRepresentation(call);
  await bindPod(call, (await readObject(call, 'core/v1.Binding')) as Binding);
}

/** The older way to do it, where the body alone names the pod. */
export async function handleNamedBinding(call: Call): Promise<void> {
  plainRepresentation(call);
  const binding = (await readObject(call, 'core/v1.Binding')) as Binding;
  const { name = '' } = binding.metadata ?? {};
  if (name === '') throw badRequest('Name parameter required.');
  const pods = call.parts.table.inStoredVersion('core', 'pods');
  if (!pods) throw pathNotFound();
  await bindPod({ ...call, served: pods, info: { ...call.info, name } }, binding);
}

/** `call`: on the pod. */
async function bindPod(call: Call, binding: Binding): Promise<void> {
  const { parts, query, info } = call;
  const { dryRun } = parseWriteOptions(query, 'CreateOptions');
  checkName(call, binding, 'Binding');
  const errors = bindingErrors(binding);
  if (errors.length > 0) throw badRequest(errors.join(', '));
  const produce = (_existing: ApiObject, entry: Entry) => {
    const pod = freshObject(entry) as Pod;
    const refusal = bindingRefusal(pod, info.name);
    if (refusal !== '') {
      throw conflict({ group: '', resource: 'pods/binding' }, info.name, refusal);
    }
    bind(pod, binding, parts.clock.nowMs());
    pod.metadata!.resourceVersion = '';
    return pod;
  };
  await updateObject(
    parts,
    targetOf(call),
    { strategy: bindingStrategy, produce, uid: '' },
    writeContext(call, dryRun),
  );
  sendCreated(call);
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

function bind(pod: Pod, binding: Binding, nowMs: number): void {
  const metadata = pod.metadata!;
  pod.spec = { ...pod.spec, nodeName: binding.target?.name } as NonNullable<Pod['spec']>;
  const { annotations } = binding.metadata ?? {};
  if (annotations) metadata.annotations = { ...metadata.annotations, ...annotations };
  const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'PodScheduled');
  const lastTransitionTime = formatTime(nowMs);
  pod.status = {
    ...pod.status,
    conditions: [...others, { type: 'PodScheduled', status: 'True', lastTransitionTime }],
  };
}
