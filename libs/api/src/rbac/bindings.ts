/** Shared parts of the two kinds of bindings: versions, rules and columns. */
import {
  checkPathSegment,
  type FieldError,
  fieldError,
  path,
  semanticallyEqual,
} from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { ClusterRoleBinding, RoleBinding } from '@orch/types/rbac.authorization/v1';
import type { RoleBinding as AlphaBinding } from '@orch/types/rbac.authorization/v1alpha1';
import type { ServedVersion, TableColumn } from '../definition.js';
import { ageColumn, nameColumn } from '../shared/columns.js';
import { checkOneOf, checkRequired } from '../shared/rules.js';
import { rbacGroup, rbacVersions } from './policy-rules.js';
import {
  setAlphaSubjectDefaults,
  setSubjectDefaults,
  subjectFromAlpha,
  subjectToAlpha,
  validateSubject,
} from './subjects.js';

type Binding = RoleBinding | ClusterRoleBinding;

export function bindingVersions<T extends Binding>(kind: string): readonly ServedVersion<T>[] {
  const setDefaults = ({ subjects }: Binding) => setSubjectDefaults(subjects);
  return rbacVersions<T>(kind, {
    v1: { setDefaults },
    v1beta1: { setDefaults },
    v1alpha1: {
      setDefaults: ({ subjects }: AlphaBinding) => setAlphaSubjectDefaults(subjects),
      toStored({ subjects, ...same }: AlphaBinding) {
        return { ...same, ...(subjects && { subjects: subjects.map(subjectFromAlpha) }) } as T;
      },
      fromStored({ subjects, ...same }) {
        return { ...same, ...(subjects && { subjects: subjects.map(subjectToAlpha) }) };
      },
    },
  });
}

/** `roleKinds`: the kinds of role that the binding may refer to. */
export function validateBinding(
  { roleRef, subjects }: Binding,
  roleKinds: readonly string[],
  namespaced: boolean,
): FieldError[] {
  const fieldPath = path('roleRef');
  return [
    ...checkOneOf(
      roleRef?.apiGroup ?? '',
      [dialect().group(rbacGroup)],
      fieldPath.child('apiGroup'),
    ),
    ...checkOneOf(roleRef?.kind, roleKinds, fieldPath.child('kind')),
    ...checkRequired(roleRef?.name, fieldPath.child('name'), checkPathSegment),
    ...(subjects ?? []).flatMap((subject, index) =>
      validateSubject(subject, namespaced, path('subjects').index(index)),
    ),
  ];
}

/** The role reference is immutable. */
export function validateRoleRefUpdate({ roleRef }: Binding, old: Binding): FieldError[] {
  return semanticallyEqual(roleRef, old.roleRef)
    ? []
    : [fieldError.invalid(path('roleRef'), roleRef, 'cannot change roleRef')];
}

function subjectsCell(object: Binding, kind: string): string {
  return (object.subjects ?? [])
    .filter((subject) => subject.kind === kind)
    .map(({ name, namespace }) => (kind === 'ServiceAccount' ? `${namespace ?? ''}/${name}` : name))
    .join(', ');
}

function subjectsColumn<T extends Binding>(
  name: string,
  kind: string,
  description: string,
): TableColumn<T> {
  return {
    name,
    type: 'string',
    priority: 1,
    description,
    cell: (object) => subjectsCell(object, kind),
  };
}

export function bindingColumns<T extends Binding>(): readonly TableColumn<T>[] {
  return [
    nameColumn(),
    {
      name: 'Role',
      type: 'string',
      description: 'Kind and name of the granted role.',
      cell: ({ roleRef }) => `${roleRef?.kind ?? ''}/${roleRef?.name ?? ''}`,
    },
    ageColumn(),
    subjectsColumn('Users', 'User', 'Users that the role is granted to.'),
    subjectsColumn('Groups', 'Group', 'Groups that the role is granted to.'),
    subjectsColumn(
      'ServiceAccounts',
      'ServiceAccount',
      'Service accounts that the role is granted to.',
    ),
  ];
}
