/**
 * Initial cluster roles and bindings of a cluster. Source: the bootstrap objects in the recorded
 * fixtures.
 */
import type { Features } from '@orch/component';
import type { ClusterRole, ClusterRoleBinding, Subject } from '@orch/types/rbac.authorization/v1';
import { componentRules } from './component-roles.js';
import { controllerRules } from './controller-roles.js';
import { account, aggregationLabel, bindingOf, groupOf, objectOf, user } from './objects.js';
import { system } from './rule.js';
import { userRules } from './user-roles.js';

/** Each one includes the next. */
const aggregates = ['admin', 'edit', 'view'] as const;

const labelFor = (aggregate: string) => ({ [aggregationLabel(aggregate)]: 'true' });

function aggregated(): ClusterRole[] {
  return aggregates.map((name, index) => {
    const above = aggregates[index - 1];
    return {
      ...objectOf('ClusterRole', name, above && labelFor(above)),
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: labelFor(name) }] },
    };
  });
}

export function systemClusterRoles(features: Features): ClusterRole[] {
  const named = {
    ...userRules(),
    ...prefixed('system:', componentRules()),
    ...prefixed('system:controller:', controllerRules(features)),
  };
  const plain = Object.entries(named).map(([name, rules]) => {
    const part = /^system:aggregate-to-(.*)$/.exec(name)?.[1];
    return {
      ...objectOf('ClusterRole', name, part === undefined ? {} : labelFor(part)),
      rules,
    };
  });
  return [...aggregated(), ...plain];
}

function prefixed<T>(prefix: string, named: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(
    Object.entries(named).map(([name, value]) => [`${prefix}${name}`, value]),
  );
}

function holders(): [role: string, ...subjects: Subject[]][] {
  const authenticated = groupOf('system:authenticated');
  const scheduler = user(`system:${system('scheduler')}`);
  return [
    ['cluster-admin', groupOf('system:masters')],
    ['system:monitoring', groupOf('system:monitoring')],
    ['system:discovery', authenticated],
    ['system:basic-user', authenticated],
    ['system:public-info-viewer', authenticated, groupOf('system:unauthenticated')],
    ['system:service-account-issuer-discovery', groupOf('system:serviceaccounts')],
    ['system:node-proxier', user(`system:${system('proxy')}`)],
    [`system:${system('controller-manager')}`, user(`system:${system('controller-manager')}`)],
    [`system:${system('dns')}`, account(system('dns'))],
    [`system:${system('scheduler')}`, scheduler],
    ['system:volume-scheduler', scheduler],
    // The node authorizer decides for each node: the role has no subjects.
    ['system:node'],
  ];
}

export function systemClusterRoleBindings(features: Features): ClusterRoleBinding[] {
  const ofControllers = Object.keys(controllerRules(features)).map((name) =>
    bindingOf('ClusterRole', `system:controller:${name}`, [account(name)]),
  );
  const others = holders().map(([role, ...subjects]) => bindingOf('ClusterRole', role, subjects));
  return [...others, ...ofControllers];
}
