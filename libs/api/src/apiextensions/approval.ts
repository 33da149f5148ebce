/**
 * Groups in the project's protected domains: the annotation of a definition must name its approval.
 */
import { type FieldError, fieldError, path } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { CustomResourceDefinition } from '@orch/types/apiextensions/v1beta1';
import type { Finding } from './conditions.js';

type State = 'missing' | 'unapproved' | 'approved' | 'invalid';

function annotationName(): string {
  return `api-approved.${dialect().keyDomain}`;
}

export function isProtectedGroup(group: string): boolean {
  const { groupDomain, keyDomain } = dialect();
  return [groupDomain, keyDomain].some(
    (domain) => group === domain || group.endsWith(`.${domain}`),
  );
}

function annotationOf({ metadata }: CustomResourceDefinition): string {
  return metadata?.annotations?.[annotationName()] ?? '';
}

function stateOf(object: CustomResourceDefinition): State {
  const value = annotationOf(object);
  if (value === '') return 'missing';
  if (value.startsWith('unapproved')) return 'unapproved';
  return URL.canParse(value) && new URL(value).host !== '' ? 'approved' : 'invalid';
}

function messageOf(object: CustomResourceDefinition): string {
  const value = annotationOf(object);
  const name = JSON.stringify(annotationName());
  const more = `see https://github.com/${dialect().word}/enhancements/pull/1111`;
  switch (stateOf(object)) {
    case 'missing':
      return `protected groups must have approval annotation ${name}, ${more}`;
    case 'unapproved':
      return `not approved: ${JSON.stringify(value)}`;
    case 'approved':
      return `approved in ${value}`;
    case 'invalid':
      return `protected groups must have approval annotation ${name} with either a URL or a reason starting with "unapproved", ${more}`;
  }
}

/** Only checks changes; the older version has no such rule. */
export function approvalErrors(
  object: CustomResourceDefinition,
  old: CustomResourceDefinition | undefined,
  version: string,
): FieldError[] {
  if (version === 'v1beta1' || !isProtectedGroup(object.spec.group)) return [];
  const state = stateOf(object);
  if (old && stateOf(old) === state) return [];
  const fieldPath = path('metadata', 'annotations').key(annotationName());
  if (state === 'missing') return [fieldError.required(fieldPath, messageOf(object))];
  if (state === 'invalid')
    return [fieldError.invalid(fieldPath, annotationOf(object), messageOf(object))];
  return [];
}

const reasons: Readonly<Record<State, string>> = {
  missing: 'MissingAnnotation',
  unapproved: 'UnapprovedAnnotation',
  approved: 'ApprovedAnnotation',
  invalid: 'InvalidAnnotation',
};

/** Undefined outside protected groups. */
export function approvalFinding(object: CustomResourceDefinition): Finding | undefined {
  if (!isProtectedGroup(object.spec.group)) return undefined;
  const { word } = dialect();
  const state = stateOf(object);
  return {
    type: `${word.charAt(0).toUpperCase()}${word.slice(1)}APIApprovalPolicyConformant`,
    status: state === 'approved' ? 'True' : 'False',
    reason: reasons[state],
    message: messageOf(object),
  };
}
