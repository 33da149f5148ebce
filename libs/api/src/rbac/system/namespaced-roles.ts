/** Initial roles and bindings in system namespaces. */
import { dialect } from '@orch/component';
import type { PolicyRule, RoleBinding, Subject } from '@orch/types/rbac.authorization/v1';
import { account, bindingOf, objectOf, user } from './objects.js';
import { eventWrites, rule, system } from './rule.js';

interface NamespacedRole {
  readonly namespace: string;
  readonly name: string;
  readonly rules: PolicyRule[];
  readonly subjects: Subject[];
  readonly bindingName?: string;
}

function namespacedRoles(): NamespacedRole[] {
  const { systemNamespace, publicNamespace } = dialect();
  const authentication = 'extension-apiserver-authentication';
  const managers = system('controller-manager');
  const scheduler = system('scheduler');
  const ofController = (namespace: string, name: string, ...rules: PolicyRule[]) => ({
    namespace,
    name: `system:controller:${name}`,
    rules,
    subjects: [account(name)],
  });
  const ofElection = (name: string) => ({
    namespace: systemNamespace,
    name: `system::leader-locking-${name}`,
    rules: [rule('watch', 'core', 'configmaps'), rule('get update', 'core', 'configmaps', [name])],
    subjects: [user(`system:${name}`), account(name)],
  });
  return [
    {
      namespace: systemNamespace,
      name: `${authentication}-reader`,
      bindingName: `system::${authentication}-reader`,
      rules: [rule('get list watch', 'core', 'configmaps', [authentication])],
      subjects: [user(`system:${managers}`), user(`system:${scheduler}`)],
    },
    ofElection(managers),
    ofElection(scheduler),
    ofController(
      publicNamespace,
      'bootstrap-signer',
      rule('get list watch', 'core', 'configmaps'),
      rule('update', 'core', 'configmaps', ['cluster-info']),
      eventWrites(),
    ),
    ofController(systemNamespace, 'bootstrap-signer', rule('get list watch', 'core', 'secrets')),
    ofController(
      systemNamespace,
      'cloud-provider',
      rule('create get list watch', 'core', 'configmaps'),
    ),
    ofController(
      systemNamespace,
      'token-cleaner',
      rule('delete get list watch', 'core', 'secrets'),
      eventWrites(),
    ),
  ];
}

export const systemRoles = () =>
  namespacedRoles().map(({ namespace, name, rules }) => ({
    ...objectOf('Role', name, {}, namespace),
    rules,
  }));

export const systemRoleBindings = (): RoleBinding[] =>
  namespacedRoles().map(({ namespace, name, bindingName = name, subjects }) =>
    bindingOf('Role', name, subjects, { name: bindingName, namespace }),
  );
