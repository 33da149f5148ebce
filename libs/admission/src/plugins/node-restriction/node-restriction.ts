/**
 * Restricts the agent of a node to its own node and the pods on it. The node authorizer checks
 * which objects an agent names; this plugin checks the contents of its writes.
 */
import { quote } from '@orch/apimachinery';
import { nodeNameOf } from '@orch/security';
import { type AdmissionRule, forbiddenTarget } from '../../rule.js';
import type { NodeWrite } from './node-write.js';
import { checkCsiNode, checkLease, checkNode } from './own-objects.js';
import { checkEviction, checkPod, checkPodStatus } from './own-pods.js';
import { checkClaimStatus, checkToken } from './pod-resources.js';

/** Throws StatusError to reject the write. */
type Check = (write: NodeWrite) => Promise<void> | void;

/** By kind, then by subresource; `*` is the check of all others. */
const checks: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  'core/pods': {
    '': checkPod,
    status: checkPodStatus,
    eviction: checkEviction,
    '*': ({ target }) => {
      throw forbiddenTarget(
        target,
        `unexpected pod subresource ${quote(target.subresource)}, only 'status' and 'eviction' are allowed`,
      );
    },
  },
  'core/nodes': { '*': checkNode },
  'core/persistentvolumeclaims': {
    status: checkClaimStatus,
    '*': ({ target }) => {
      throw forbiddenTarget(target, 'may only update PVC status');
    },
  },
  'core/serviceaccounts': { token: checkToken },
  'coordination/leases': { '*': checkLease },
  'storage/csinodes': { '*': checkCsiNode },
};

export const nodeRestriction: AdmissionRule = {
  name: 'NodeRestriction',
  isDefault: false,
  operations: ['CREATE', 'UPDATE', 'DELETE'],

  async mutate(target, context) {
    const node = nodeNameOf(context.user);
    if (node === undefined) return;
    if (node === '') {
      throw forbiddenTarget(
        target,
        `could not determine node from user ${quote(context.user.name)}`,
      );
    }
    const ofKind = checks[`${target.groupHead}/${target.plural}`];
    const check = ofKind?.[target.subresource] ?? ofKind?.['*'];
    await check?.({ node, target, context });
  },
};
