import type { ClusterRole, Role, RoleBinding } from '@orch/types/rbac.authorization/v1';
import { describe, expect, it } from 'vitest';
import { cells, create, update } from '../testing/write.js';
import { clusterRole } from './cluster-role.js';
import { clusterRoleBinding } from './cluster-role-binding.js';
import { role } from './role.js';
import { roleBinding } from './role-binding.js';

const group = 'rbac.authorization.orch.io';
const roleRef = { apiGroup: group, kind: 'Role', name: 'r' };
const alpha = roleBinding.versions[2];

describe('roles', () => {
  it.each<[object, string[]]>([
    [
      {},
      [
        'rules[0].verbs: Required value: verbs must contain at least one value',
        'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
        'rules[0].resources: Required value: resource rules must supply at least one resource',
      ],
    ],
    [
      { verbs: ['get'], nonResourceURLs: ['/x'], resources: ['pods'] },
      [
        'rules[0].nonResourceURLs: Invalid value: []string{"/x"}: namespaced rules cannot apply to non-resource URLs',
        'rules[0].nonResourceURLs: Invalid value: []string{"/x"}: rules cannot apply to both regular resources and non-resource URLs',
      ],
    ],
  ])('reject %j', (rule, messages) => {
    expect(create(role, { rules: [rule] }).errors).toEqual(messages);
  });
  it('of the cluster may have non-resource URLs', () => {
    const rules = [{ verbs: ['get'], nonResourceURLs: ['/healthz'] }];
    expect(create(clusterRole, { rules }).errors).toEqual([]);
  });
  it('have names that are path segments', () => {
    expect(create(role, { metadata: { name: 'System:a_b' } }).errors).toEqual([]);
    expect(create(role, { metadata: { name: 'a/b%' } }).errors).toEqual([
      'metadata.name: Invalid value: "a/b%": may not contain \'/\'',
      'metadata.name: Invalid value: "a/b%": may not contain \'%\'',
    ]);
    expect(create(role, { metadata: { name: '..' } }).errors).toEqual([
      'metadata.name: Invalid value: "..": may not be \'..\'',
    ]);
  });
  it('drop an empty list of rules', () => {
    expect(create(role, { rules: [] }).object).not.toHaveProperty('rules');
  });
  it('report errors twice on update', () => {
    const { object } = create<Role>(role, { rules: [] });
    const { errors } = update(role, object, (changed: Role) => {
      changed.rules = [{ verbs: [], apiGroups: [''], resources: ['pods'] }];
    });
    expect(errors).toHaveLength(2);
  });
  it('require valid aggregation selectors', () => {
    const errorsOf = (clusterRoleSelectors: object[]) =>
      create<ClusterRole>(clusterRole, { aggregationRule: { clusterRoleSelectors } }).errors;
    expect(errorsOf([])).toEqual([
      'aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil',
    ]);
    expect(errorsOf([{ matchExpressions: [{ key: 'a', operator: 'Near' }] }])).toEqual([
      'aggregationRule.clusterRoleSelectors[0].matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator',
      'aggregationRule.clusterRoleSelectors[0]: Invalid value: "null": invalid label selector.',
    ]);
    expect(errorsOf([{ matchLabels: { a: 'b' } }])).toEqual([]);
  });
});

describe('bindings', () => {
  it('default the groups of references', () => {
    const { object, errors } = create<RoleBinding>(roleBinding, {
      roleRef: { kind: 'Role', name: 'r' },
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'Group', name: 'g' },
        { kind: 'ServiceAccount', name: 's' },
      ],
    });
    expect(errors).toEqual([]);
    expect(object.roleRef).toEqual(roleRef);
    expect(object.subjects?.map(({ apiGroup }) => apiGroup)).toEqual([group, group, undefined]);
  });
  it.each<[object, string[]]>([
    [
      { subjects: [{ kind: 'Robot' }] },
      [
        'subjects[0].name: Required value',
        'subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"',
      ],
    ],
    [
      { subjects: [{ kind: 'User', name: 'u', apiGroup: 'x' }] },
      [`subjects[0].apiGroup: Unsupported value: "x": supported values: "${group}"`],
    ],
    [
      { subjects: [{ kind: 'ServiceAccount', name: 's', apiGroup: 'x', namespace: 'n' }] },
      ['subjects[0].apiGroup: Unsupported value: "x": supported values: ""'],
    ],
    [
      { subjects: [{ kind: 'ServiceAccount', name: 'A' }] },
      [expect.stringMatching(/^subjects\[0\]\.name: Invalid value: "A": a lowercase/) as string],
    ],
    [
      { roleRef: { apiGroup: 'x', kind: 'Rule', name: 'a/b' } },
      [
        `roleRef.apiGroup: Unsupported value: "x": supported values: "${group}"`,
        'roleRef.kind: Unsupported value: "Rule": supported values: "Role", "ClusterRole"',
        'roleRef.name: Invalid value: "a/b": may not contain \'/\'',
      ],
    ],
    [{ roleRef: { kind: 'Role' } }, ['roleRef.name: Required value']],
  ])('reject %j', (change, messages) => {
    expect(create(roleBinding, { roleRef, ...change }).errors).toEqual(messages);
  });
  it('of the cluster require a cluster role and namespaces of service accounts', () => {
    const subjects = [{ kind: 'ServiceAccount', name: 's' }];
    expect(create(clusterRoleBinding, { roleRef, subjects }).errors).toEqual([
      'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
      'subjects[0].namespace: Required value',
    ]);
  });
  it('reject a change of the role reference', () => {
    const { object } = create<RoleBinding>(roleBinding, { roleRef });
    const { errors } = update(roleBinding, object, (changed: RoleBinding) => {
      changed.roleRef.name = 'other';
    });
    expect(errors).toEqual([
      expect.stringMatching(/^roleRef: Invalid value: .*: cannot change roleRef$/),
    ]);
  });
  it('show their subjects', () => {
    const subjects = [
      { kind: 'User', name: 'u' },
      { kind: 'User', name: 'v' },
      { kind: 'ServiceAccount', name: 's', namespace: 'n' },
    ];
    expect(cells(roleBinding, create(roleBinding, { roleRef, subjects }).object)).toMatchObject({
      Role: 'Role/r',
      Users: 'u, v',
      Groups: '',
      ServiceAccounts: 'n/s',
    });
  });
});

describe('bindings in the oldest version', () => {
  it('convert API versions of subjects, and the user for all users', () => {
    const { object, errors } = create<RoleBinding>(
      roleBinding,
      {
        roleRef,
        subjects: [
          { kind: 'User', name: '*' },
          { kind: 'Group', name: 'g', apiVersion: `${group}/v1alpha1` },
          { kind: 'ServiceAccount', name: 's', namespace: 'n' },
        ],
      },
      alpha,
    );
    expect(errors).toEqual([]);
    expect(object.subjects).toEqual([
      { kind: 'Group', name: 'system:authenticated', apiGroup: group },
      { kind: 'Group', name: 'g', apiGroup: group },
      { kind: 'ServiceAccount', name: 's', namespace: 'n' },
    ]);
    expect(alpha?.fromStored?.(object)).toMatchObject({
      subjects: [
        { kind: 'Group', name: 'system:authenticated', apiVersion: `${group}/v1alpha1` },
        { kind: 'Group', name: 'g', apiVersion: `${group}/v1alpha1` },
        { kind: 'ServiceAccount', name: 's', apiVersion: 'v1', namespace: 'n' },
      ],
    });
  });
  it('omit an empty list of subjects', () => {
    const { object } = create<RoleBinding>(roleBinding, { roleRef });
    expect(alpha?.toStored?.(alpha.fromStored!(object))).toEqual(object);
  });
});
