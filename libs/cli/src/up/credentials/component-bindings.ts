/** The bindings of components that are not among the initial ones of a cluster. */
import { isNotFound, type RestClient, resources } from '@orch/client';
import { dialect } from '@orch/component';
import type { ClusterRoleBinding } from '@orch/types/rbac.authorization/v1';
import { type ApiAccess, asAdministrator } from '../cluster/admin-client.js';

const rbacGroup = 'rbac.authorization';

/** The user of the certificate that API servers present to node agents. */
export function agentClientUser(): string {
  return `${dialect().word}-apiserver-client`;
}

/**
 * Binds the roles that components need beyond the initial bindings; leaves existing bindings
 * unchanged. Throws `UserError`.
 */
export async function ensureComponentBindings(access: ApiAccess): Promise<void> {
  await asAdministrator(access, 'the roles of components were not bound', async (client) => {
    await Promise.all(
      componentBindings().map((binding) => createUnlessExists(client, bindingOf(binding))),
    );
  });
}

interface SystemBinding {
  /** Without the prefix `system:`. */
  readonly role: string;
  readonly kind: 'User' | 'Group';
  readonly subject: string;
}

function componentBindings(): SystemBinding[] {
  const requests = `${dialect().group('certificates')}:certificatesigningrequests`;
  return [
    // Logs, exec and port-forward: node agents authorize requests by subject access review.
    { role: 'kubelet-api-admin', kind: 'User', subject: agentClientUser() },
    // The proxy authenticates and authorizes requests for its metrics by reviews.
    {
      role: 'auth-delegator',
      kind: 'User',
      subject: `system:${dialect().systemName('proxy')}`,
    },
    // A machine with a bootstrap token requests the certificate of its node, which is approved.
    { role: 'node-bootstrapper', kind: 'Group', subject: 'system:bootstrappers' },
    { role: `${requests}:nodeclient`, kind: 'Group', subject: 'system:bootstrappers' },
    // A node renews its own certificate.
    { role: `${requests}:selfnodeclient`, kind: 'Group', subject: 'system:nodes' },
  ];
}

/** Reads first, so that a store without space for writes does not prevent the start. */
async function createUnlessExists(client: RestClient, binding: ClusterRoleBinding): Promise<void> {
  const bindings = client.resource(resources.clusterRoleBindings);
  try {
    await bindings.get(binding.metadata?.name ?? '');
    return;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  await bindings.create(binding);
}

function bindingOf({ role, kind, subject }: SystemBinding): ClusterRoleBinding {
  const apiGroup = dialect().group(rbacGroup);
  return {
    apiVersion: dialect().apiVersion(rbacGroup, 'v1'),
    kind: 'ClusterRoleBinding',
    metadata: { name: `${subject.replace('system:', '')}-${role}` },
    roleRef: { apiGroup, kind: 'ClusterRole', name: `system:${role}` },
    subjects: [{ apiGroup, kind, name: subject }],
  };
}
