/** Writes of pods on the agent's own node: mirror pods, deletions, evictions and statuses. */
import { mirrorAnnotation } from '@orch/api';
import { notFound, quote, semanticallyEqual } from '@orch/apimachinery';
import { podReferences } from '@orch/security';
import type { Node, Pod } from '@orch/types/core/v1';
import type { OwnerReference } from '@orch/types/meta/v1';
import { forbiddenTarget } from '../../rule.js';
import type { NodeWrite } from './node-write.js';

export async function checkPod(write: NodeWrite): Promise<void> {
  const { node, target } = write;
  if (target.operation === 'CREATE') return checkMirrorPod(write);
  if (target.operation === 'UPDATE') {
    throw forbiddenTarget(
      target,
      `unexpected operation "UPDATE", node ${quote(node)} can only create and delete mirror pods`,
    );
  }
  if ((target.old as Pod | undefined)?.spec?.nodeName !== node) {
    throw forbiddenTarget(
      target,
      `node ${quote(node)} can only delete pods with spec.nodeName set to itself`,
    );
  }
}

/** Throws 404 if the pod does not exist. */
export async function podOf({ target, context }: NodeWrite, name: string): Promise<Pod> {
  const pod = await context.reader.get('core', 'pods', target.namespace, name);
  if (!pod) throw notFound({ group: '', resource: 'pods' }, name);
  return pod as Pod;
}

async function checkMirrorPod(write: NodeWrite): Promise<void> {
  const { node, target } = write;
  const pod = target.object as Pod;
  const refuse = (reason: string) => forbiddenTarget(target, reason);
  const name = quote(node);
  if (pod.metadata?.annotations?.[mirrorAnnotation()] === undefined) {
    throw refuse(
      `pod does not have ${quote(mirrorAnnotation())} annotation, node ${name} can only create mirror pods`,
    );
  }
  if (pod.spec?.nodeName !== node) {
    throw refuse(`node ${name} can only create pods with spec.nodeName set to itself`);
  }
  const [owner, ...others] = pod.metadata.ownerReferences ?? [];
  if (others.length > 0) {
    throw refuse(`node ${name} can only create pods with a single owner reference set to itself`);
  }
  await checkOwner(write, owner);
  const kinds = new Set(podReferences(pod).map((key) => key.slice(0, key.indexOf('/'))));
  const references: [string, string][] = [
    ['serviceaccounts', 'a service account'],
    ['secrets', 'secrets'],
    ['configmaps', 'configmaps'],
    ['persistentvolumeclaims', 'persistentvolumeclaims'],
  ];
  for (const [kind, named] of references) {
    if (kinds.has(kind)) throw refuse(`node ${name} can not create pods that reference ${named}`);
  }
}

async function checkOwner(
  { node, target, context }: NodeWrite,
  owner: OwnerReference | undefined,
): Promise<void> {
  const refuse = (reason: string) => forbiddenTarget(target, reason);
  const name = quote(node);
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    throw refuse(`node ${name} can only create pods with an owner reference set to itself`);
  }
  if (!owner.controller) {
    throw refuse(
      `node ${name} can only create pods with a controller owner reference set to itself`,
    );
  }
  if (owner.blockOwnerDeletion) {
    throw refuse(`node ${name} must not set blockOwnerDeletion on an owner reference`);
  }
  const object = (await context.reader.get('core', 'nodes', '', node)) as Node | undefined;
  if (!object) throw notFound({ group: '', resource: 'nodes' }, node);
  const uid = object.metadata?.uid ?? '';
  if (owner.uid !== uid) {
    throw refuse(`node ${node} UID mismatch: expected ${owner.uid} got ${uid}`);
  }
}

export function checkPodStatus({ node, target }: NodeWrite): void {
  const { operation, object, old } = target;
  if (operation !== 'UPDATE') {
    throw forbiddenTarget(target, `unexpected operation ${quote(operation)}`);
  }
  if ((old as Pod).spec?.nodeName !== node) {
    throw forbiddenTarget(
      target,
      `node ${quote(node)} can only update pod status for pods with spec.nodeName set to itself`,
    );
  }
  if (!semanticallyEqual(object?.metadata?.labels, old?.metadata?.labels)) {
    throw forbiddenTarget(target, `node ${quote(node)} cannot update labels through pod status`);
  }
}

export async function checkEviction(write: NodeWrite): Promise<void> {
  const { node, target } = write;
  const name = target.name || (target.object?.metadata?.name ?? '');
  if (name === '') throw forbiddenTarget(target, 'could not determine pod from request data');
  const pod = await podOf(write, name);
  if (pod.spec?.nodeName !== node) {
    throw forbiddenTarget(
      target,
      `node ${node} can only evict pods with spec.nodeName set to itself`,
    );
  }
}
