/**
 * Subjects of bindings: the default of their group, their rules, and their oldest shape, which has
 * an apiVersion instead of a group and a user `*` for all authenticated users.
 */
import {
  checkDns1123Subdomain,
  type FieldError,
  type FieldPath,
  fieldError,
  parseApiVersion,
} from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { Subject } from '@orch/types/rbac.authorization/v1';
import type { Subject as AlphaSubject } from '@orch/types/rbac.authorization/v1alpha1';
import { checkOneOf, checkOptional } from '../shared/rules.js';
import { rbacGroup } from './policy-rules.js';

const serviceAccount = 'ServiceAccount';
const ofThisGroup: ReadonlySet<string> = new Set(['User', 'Group']);
const subjectKinds = [serviceAccount, ...ofThisGroup];
const everyUser = '*';
const everyAuthenticated = 'system:authenticated';

const alphaVersion = () => dialect().apiVersion(rbacGroup, 'v1alpha1');

export function setSubjectDefaults(subjects: readonly Subject[] | undefined): void {
  for (const subject of subjects ?? []) {
    if (!subject.apiGroup && ofThisGroup.has(subject.kind)) {
      subject.apiGroup = dialect().group(rbacGroup);
    }
  }
}

export function setAlphaSubjectDefaults(subjects: readonly AlphaSubject[] | undefined): void {
  for (const subject of subjects ?? []) {
    if (subject.apiVersion) continue;
    if (subject.kind === serviceAccount) subject.apiVersion = 'v1';
    else if (ofThisGroup.has(subject.kind)) subject.apiVersion = alphaVersion();
  }
}

export function subjectFromAlpha({ apiVersion, ...subject }: AlphaSubject): Subject {
  if (subject.kind === serviceAccount) return subject;
  if (!ofThisGroup.has(subject.kind)) {
    const { group } = parseApiVersion(apiVersion ?? '');
    return group === '' ? subject : { ...subject, apiGroup: group };
  }
  const apiGroup = dialect().group(rbacGroup);
  return subject.kind === 'User' && subject.name === everyUser
    ? { ...subject, kind: 'Group', name: everyAuthenticated, apiGroup }
    : { ...subject, apiGroup };
}

export function subjectToAlpha({ apiGroup, ...subject }: Subject): AlphaSubject {
  if (subject.kind === serviceAccount && !apiGroup) return { ...subject, apiVersion: 'v1' };
  if (ofThisGroup.has(subject.kind) && apiGroup === dialect().group(rbacGroup)) {
    return { ...subject, apiVersion: alphaVersion() };
  }
  return apiGroup ? { ...subject, apiVersion: `${apiGroup}/` } : subject;
}

/** A service account without a namespace is in the namespace of the binding. */
export function validateSubject(
  subject: Subject,
  namespaced: boolean,
  fieldPath: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  if (!subject.name) errors.push(fieldError.required(fieldPath.child('name')));
  const groupAt = fieldPath.child('apiGroup');
  const apiGroup = subject.apiGroup ?? '';
  if (subject.kind === serviceAccount) {
    errors.push(
      ...checkOptional(subject.name, fieldPath.child('name'), checkDns1123Subdomain),
      ...checkOneOf(apiGroup, [''], groupAt),
    );
    if (!namespaced && !subject.namespace)
      errors.push(fieldError.required(fieldPath.child('namespace')));
  } else if (ofThisGroup.has(subject.kind)) {
    errors.push(...checkOneOf(apiGroup, [dialect().group(rbacGroup)], groupAt));
  } else errors.push(...checkOneOf(subject.kind, subjectKinds, fieldPath.child('kind')));
  return errors;
}
