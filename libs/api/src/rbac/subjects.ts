/**
 * Subjects of bindings: their group is filled in by kind, their rules, and their oldest shape, which holds
 * an apiVersion in place of the group and knows a user `*` for whoever is authenticated.
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

/** Accounts without a namespace are those of the binding's. */
export function validateSubject(
  subject: Subject,
  namespaced: boolean,
  at: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  if (!subject.name) errors.push(fieldError.required(at.child('name')));
  const groupAt = at.child('apiGroup');
  const apiGroup = subject.apiGroup ?? '';
  if (subject.kind === serviceAccount) {
    errors.push(
      ...checkOptional(subject.name, at.child('name'), checkDns1123Subdomain),
      ...checkOneOf(apiGroup, [''], groupAt),
    );
    if (!namespaced && !subject.namespace) errors.push(fieldError.required(at.child('namespace')));
  } else if (ofThisGroup.has(subject.kind)) {
    errors.push(...checkOneOf(apiGroup, [dialect().group(rbacGroup)], groupAt));
  } else errors.push(...checkOneOf(subject.kind, subjectKinds, at.child('kind')));
  return errors;
}
