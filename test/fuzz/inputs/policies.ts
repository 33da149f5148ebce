/**
 * Roles, bindings, users and requests of a small world, in which most names meet: stars, empty
 * texts, subresources and missing roles in every position.
 */
import type { RequestAttributes, User } from '@orch/security';
import type { PolicyRule, RoleBinding, Subject } from '@orch/types/rbac.authorization/v1';
import fc from 'fast-check';

export const namespaces = ['a', 'b'] as const;
const roleNames = ['r', 's', 't'] as const;
const verbs = ['get', 'list', 'create', 'delete', ''] as const;
const resources = ['pods', 'secrets'] as const;
const objectNames = ['', 'x', 'y', '*'] as const;
const paths = ['/', '/a', '/a/', '/a/b', '/a/*', '/a*', '/b', '/x/b', ''] as const;

const anyOf = <T>(values: readonly T[]) => fc.constantFrom(...values);
const someOf = (values: readonly string[], maxLength = 3) => fc.array(anyOf(values), { maxLength });

/** Present twice as often as absent. */
const sometimes = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.option(arbitrary, { nil: undefined, freq: 2 });

function without<T extends object>(object: T): T {
  const present = Object.entries(object).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as T;
}

const resourceRule = fc
  .record({
    verbs: someOf([...verbs, '*', 'get']),
    apiGroups: someOf(['', 'apps', '*', '']),
    resources: someOf([
      ...['pods', 'secrets', '*', 'pods/log', 'pods/*', '*/log', '*/*', '/log', 'pods/', ''],
      ...['pods', 'pods/log'],
    ]),
    resourceNames: sometimes(someOf(objectNames, 2)),
    nonResourceURLs: sometimes(someOf(paths, 1)),
  })
  .map(without);

const pathRule = fc.record({
  verbs: someOf([...verbs, '*', 'get']),
  nonResourceURLs: someOf([...paths, '*', '**', '/a/**', '/*/b', '/x/*']),
});

export const policyRules: fc.Arbitrary<PolicyRule[]> = fc.array(
  fc.oneof<fc.Arbitrary<PolicyRule>[]>(resourceRule as never, resourceRule as never, pathRule),
  { maxLength: 3 },
);

const accountNames = namespaces.flatMap((namespace) => [
  `system:serviceaccount:${namespace}:robot`,
  `system:serviceaccount:${namespace}:x`,
]);
const userNames = ['ann', 'bob', '*', 'system:anonymous', ...accountNames];
const groups = [
  ...['dev', 'ops', 'system:authenticated', 'system:unauthenticated', '*'],
  ...['system:serviceaccounts', 'system:serviceaccounts:a', 'ann'],
];

export const users: fc.Arbitrary<User> = fc.record({
  name: anyOf(userNames),
  uid: fc.constant(''),
  groups: someOf(groups),
  extra: fc.constant({}),
});

const subject: fc.Arbitrary<Subject> = fc.oneof(
  fc.record({ kind: fc.constant('User'), name: anyOf(userNames) }),
  fc.record({ kind: fc.constant('Group'), name: anyOf(groups) }),
  fc
    .record({
      kind: fc.constant('ServiceAccount'),
      name: anyOf(['robot', 'x']),
      namespace: sometimes(anyOf([...namespaces, ''])),
    })
    .map(without) as fc.Arbitrary<Subject>,
  fc.record({ kind: fc.constant('Other'), name: anyOf(userNames) }),
);

export const bindings: fc.Arbitrary<RoleBinding> = fc.record({
  roleRef: fc.record({
    apiGroup: fc.constant('rbac.authorization.orch.io'),
    kind: anyOf(['ClusterRole', 'Role']),
    name: anyOf(roleNames),
  }),
  subjects: fc.array(subject, { maxLength: 3 }),
});

interface Named {
  readonly namespace: string;
  readonly name: string;
}
export type PolicyChange =
  | (Named & { readonly kind: 'set role'; readonly rules: PolicyRule[] })
  | (Named & { readonly kind: 'set binding'; readonly binding: RoleBinding })
  | (Named & { readonly kind: 'delete role' | 'delete binding' });

const named = { namespace: anyOf(['', ...namespaces]), name: anyOf(roleNames) };

export const policyChanges: fc.Arbitrary<PolicyChange> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('set role' as const), ...named, rules: policyRules }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('set binding' as const),
      ...named,
      binding: bindings,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: anyOf(['delete role', 'delete binding'] as const),
      ...named,
    }),
  },
);

const resourceRequest = fc.record({
  isResource: fc.constant(true),
  verb: anyOf(verbs),
  path: fc.constant(''),
  group: anyOf(['', '', 'apps']),
  version: fc.constant('v1'),
  namespace: anyOf(['', ...namespaces]),
  resource: anyOf(resources),
  subresource: anyOf(['', '', 'log', 'status']),
  name: anyOf(objectNames),
});

const pathRequest = fc.tuple(anyOf(verbs), anyOf(paths)).map(
  ([verb, path]): RequestAttributes => ({
    ...{ isResource: false, verb, path, group: '', version: '' },
    ...{ namespace: '', resource: '', subresource: '', name: '' },
  }),
);

export const attributes: fc.Arbitrary<RequestAttributes> = fc.oneof(
  { weight: 3, arbitrary: resourceRequest },
  { weight: 1, arbitrary: pathRequest },
);
