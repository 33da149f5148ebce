/** The agent's own node, lease and CSI node. */
import { quote, semanticallyEqual } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { Node } from '@orch/types/core/v1';
import { forbiddenTarget } from '../../rule.js';
import { forbiddenLabels } from './node-labels.js';
import type { NodeWrite } from './node-write.js';

export function checkNode({ node, target }: NodeWrite): void {
  const refuse = (reason: string) =>
    forbiddenTarget(target, `node ${quote(node)} is not allowed to ${reason}`);
  const { operation, subresource } = target;
  const created =
    operation === 'CREATE' && subresource === '' ? (target.object as Node) : undefined;
  if (created) {
    if (created.spec?.configSource) throw refuse('create pods with a non-nil configSource');
    const forbidden = forbiddenLabels(created.metadata?.labels, undefined);
    if (forbidden.length > 0) throw refuse(`set the following labels: ${forbidden.join(', ')}`);
  }
  const name = target.name || (target.object?.metadata?.name ?? '');
  if (name !== node) throw refuse(`modify node ${quote(name)}`);
  if (operation === 'UPDATE') checkNodeUpdate(target.object as Node, target.old as Node, refuse);
}

function checkNodeUpdate(now: Node, old: Node, refuse: (reason: string) => Error): void {
  const { configSource, taints } = now.spec ?? {};
  if (configSource && !semanticallyEqual(configSource, old.spec?.configSource)) {
    throw refuse('update configSource to a new non-nil configSource');
  }
  if (!semanticallyEqual(taints, old.spec?.taints)) throw refuse('modify taints');
  const forbidden = forbiddenLabels(now.metadata?.labels, old.metadata?.labels);
  if (forbidden.length > 0) throw refuse(`modify labels: ${forbidden.join(', ')}`);
}

export function checkLease({ node, target }: NodeWrite): void {
  const { nodeLeaseNamespace } = dialect();
  if (target.namespace !== nodeLeaseNamespace) {
    throw forbiddenTarget(
      target,
      `can only access leases in the ${quote(nodeLeaseNamespace)} system namespace`,
    );
  }
  if (namedByWrite(target) !== node) {
    throw forbiddenTarget(
      target,
      'can only access node lease with the same name as the requesting node',
    );
  }
}

export function checkCsiNode({ node, target }: NodeWrite): void {
  if (namedByWrite(target) !== node) {
    throw forbiddenTarget(
      target,
      'can only access CSINode with the same name as the requesting node',
    );
  }
}

function namedByWrite({ operation, object, name }: NodeWrite['target']): string {
  return operation === 'CREATE' ? (object?.metadata?.name ?? '') : name;
}
