/**
 * Allows the agent of a node to read the objects that its pods refer to and to use its own lease
 * and its own CSI node. The rules of the role of nodes decide about everything else.
 */
import { quote } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { PolicyRule } from '@orch/types/rbac.authorization/v1';
import type { User } from '../../authentication/user.js';
import type { RequestAttributes } from '../attributes.js';
import { type Authorizer, allow, type Decision, noOpinion } from '../authorizer.js';
import { CompiledRole, ruleTarget } from '../rbac/compiled-role.js';
import type { RuleLister } from '../rules.js';
import type { NodeGraph } from './node-graph.js';
import type { ReachedKind } from './references.js';

export interface NodeAuthorizerDependencies {
  /** The graph with every change that this server has applied. */
  readonly graph: () => NodeGraph;
  /** The rules of the role of nodes. */
  readonly rules: readonly PolicyRule[];
}

const userPrefix = 'system:node:';
const nodesGroup = 'system:nodes';

/** The name of the node; undefined for other users. */
export function nodeNameOf({ name, groups }: User): string | undefined {
  return name.startsWith(userPrefix) && groups.includes(nodesGroup)
    ? name.slice(userPrefix.length)
    : undefined;
}

const because = (reason: string): Decision => ({ ...noOpinion, reason });

export function nodeAuthorizer({ graph, rules }: NodeAuthorizerDependencies): Authorizer {
  const role = new CompiledRole(rules);
  return ({ user, info }) => {
    const node = nodeNameOf(user);
    if (node === undefined) return noOpinion;
    if (node === '') return because(`unknown node for user ${quote(user.name)}`);
    const known = info.isResource ? decideOwn(node, info) : undefined;
    if (known === undefined) return role.allows(ruleTarget(info)) ? allow : noOpinion;
    if (typeof known !== 'string') return known;
    if (info.name === '') return because('No Object name found');
    return graph().reaches(node, known, info.namespace, info.name)
      ? allow
      : because(`no relationship found between node '${node}' and this object`);
  };
}

/** The rules of a node depend on its pods, and are not listed. */
export const nodeRules: RuleLister = async (user) => ({
  resourceRules: [],
  nonResourceRules: [],
  incomplete: nodeNameOf(user) !== undefined,
  ...(nodeNameOf(user) !== undefined && {
    evaluationError: 'node authorizer does not support user rule resolution',
  }),
});

/**
 * A kind: the graph decides about the object. Undefined: the role of nodes decides.
 */
function decideOwn(node: string, info: RequestAttributes): Decision | ReachedKind | undefined {
  const { groupDomain } = dialect();
  switch (info.group === '' ? info.resource : `${info.resource}.${info.group}`) {
    case 'secrets':
    case 'configmaps':
      return decideRead(info) ?? (info.resource as ReachedKind);
    case 'persistentvolumeclaims':
      return info.subresource === 'status'
        ? (decideStatus(info) ?? 'persistentvolumeclaims')
        : (decideGet(info) ?? 'persistentvolumeclaims');
    case 'persistentvolumes':
      return decideGet(info) ?? 'persistentvolumes';
    case `volumeattachments.storage.${groupDomain}`:
      return decideGet(info) ?? 'volumeattachments';
    case 'serviceaccounts':
      return decideToken(info) ?? 'serviceaccounts';
    case `leases.coordination.${groupDomain}`:
      return decideLease(node, info);
    case `csinodes.storage.${groupDomain}`:
      return decideCsiNode(node, info);
    default:
      return undefined;
  }
}

function decideRead({ verb, subresource, namespace }: RequestAttributes): Decision | undefined {
  if (verb !== 'get' && verb !== 'list' && verb !== 'watch') {
    return because('can only read resources of this type');
  }
  if (subresource !== '') return because('cannot read subresource');
  return namespace === '' ? because('can only read namespaced object of this type') : undefined;
}

function decideGet({ verb, subresource }: RequestAttributes): Decision | undefined {
  if (verb !== 'get') return because('can only get individual resources of this type');
  return subresource === '' ? undefined : because('cannot get subresource');
}

function decideStatus({ verb }: RequestAttributes): Decision | undefined {
  return verb === 'update' || verb === 'patch'
    ? undefined
    : because('can only get/update/patch this type');
}

function decideToken({ verb, subresource, name }: RequestAttributes): Decision | undefined {
  if (verb !== 'create' || name === '') {
    return because('can only create tokens for individual service accounts');
  }
  return subresource === 'token'
    ? undefined
    : because('can only create token subresource of service account');
}

const ownVerbs: ReadonlySet<string> = new Set(['get', 'create', 'update', 'patch', 'delete']);

function decideLease(node: string, { verb, namespace, name }: RequestAttributes): Decision {
  if (!ownVerbs.has(verb)) {
    return because('can only get, create, update, patch, or delete a node lease');
  }
  const leases = dialect().nodeLeaseNamespace;
  if (namespace !== leases) {
    return because(`can only access leases in the ${quote(leases)} system namespace`);
  }
  // The name of a create is in its body, which admission checks.
  return verb === 'create' || name === node
    ? allow
    : because('can only access node lease with the same name as the requesting node');
}

function decideCsiNode(node: string, { verb, subresource, name }: RequestAttributes): Decision {
  if (!ownVerbs.has(verb)) {
    return because('can only get, create, update, patch, or delete a CSINode');
  }
  if (subresource !== '') return because('cannot authorize CSINode subresources');
  return verb === 'create' || name === node
    ? allow
    : because('can only access CSINode with the same name as the requesting node');
}
