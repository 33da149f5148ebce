/** Verbs and resources of permissions that discovery does not list. */
import { dialect } from '@orch/component';

const resourceVerbs = new Set([
  ...['*', 'get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'],
  ...['proxy', 'use', 'bind', 'escalate', 'impersonate', 'approve', 'sign', 'attest'],
]);
const pathVerbs = new Set(['*', 'get', 'put', 'post', 'head', 'options', 'delete', 'patch']);

/** By group. Only permissions refer to these resources; no server serves them. */
const virtualResources = new Map([
  ['', ['users', 'groups']],
  ['authentication', ['userextras', 'uids']],
  ['certificates', ['signers']],
]);

export function isKnownVerb(verb: string, isPath: boolean): boolean {
  return (isPath ? pathVerbs : resourceVerbs).has(verb);
}

/** `group` is the full name of the group. */
export function isVirtualResource(resource: string, group: string): boolean {
  const head = group === '' ? '' : dialect().groupHead(group);
  return virtualResources.get(head)?.includes(resource) ?? false;
}
