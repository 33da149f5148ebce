/** What the two kinds of bindings share: versions, rules and columns. */
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
import type { ApiObject, ServedVersion, TableColumn } from '../definition.js';
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
  const setDefaults = (object: ApiObject) => setSubjectDefaults((object as Binding).subjects);
  return rbacVersions<T>(kind, {
    v1: { setDefaults },
    v1beta1: { setDefaults },
    v1alpha1: {
      setDefaults: (object) => setAlphaSubjectDefaults((object as AlphaBinding).subjects),
      toStored(object) {
        const { subjects, ...same } = object as AlphaBinding;
        return { ...same, ...(subjects && { subjects: subjects.map(subjectFromAlpha) }) } as T;
      },
      fromStored({ subjects, ...same }) {
        return { ...same, ...(subjects && { subjects: subjects.map(subjectToAlpha) }) };
      },
    },
  });
}

/** `roleKinds`: what the binding may give. */
export function validateBinding(
  { roleRef, subjects }: Binding,
  roleKinds: readonly string[],
  namespaced: boolean,
): FieldError[] {
  const at = path('roleRef');
  return [
    ...checkOneOf(roleRef?.apiGroup ?? '', [dialect().group(rbacGroup)], at.child('apiGroup')),
    ...checkOneOf(roleRef?.kind, roleKinds, at.child('kind')),
    ...checkRequired(roleRef?.name, at.child('name'), checkPathSegment),
    ...(subjects ?? []).flatMap((subject, index) =>
      validateSubject(subject, namespaced, path('subjects').index(index)),
    ),
  ];
}

/** What a binding gives stays; to give something else is another binding. */
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
      description: 'Kind and name of the role that is given.',
      cell: ({ roleRef }) => `${roleRef?.kind ?? ''}/${roleRef?.name ?? ''}`,
    },
    ageColumn(),
    subjectsColumn('Users', 'User', 'Users it is given to.'),
    subjectsColumn('Groups', 'Group', 'Groups it is given to.'),
    subjectsColumn('ServiceAccounts', 'ServiceAccount', 'Service accounts it is given to.'),
  ];
}
