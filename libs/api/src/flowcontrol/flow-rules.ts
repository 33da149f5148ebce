/** Validates the rules of a flow schema: subjects and requests. */
import {
  checkDns1123Label,
  checkDns1123Subdomain,
  type FieldError,
  type FieldPath,
  fieldError,
} from '@orch/apimachinery';
import type {
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  ServiceAccountSubject,
  Subject,
} from '@orch/types/flowcontrol.apiserver/v1beta1';
import { checkOneOf, checkRequired, invalidEach } from '../shared/rules.js';
import { validateWildcardList } from './shared.js';

const verbs = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'proxy',
  'update',
  'watch',
];

export function validatePolicyRule(
  rule: PolicyRulesWithSubjects,
  fieldPath: FieldPath,
): FieldError[] {
  const { subjects = [], resourceRules = [], nonResourceRules = [] } = rule;
  const errors: FieldError[] = [];
  if (subjects.length === 0) {
    errors.push(
      fieldError.required(fieldPath.child('subjects'), 'subjects must contain at least one value'),
    );
  }
  for (const [index, subject] of subjects.entries()) {
    errors.push(...validateSubject(subject, fieldPath.child('subjects').index(index)));
  }
  if (resourceRules.length === 0 && nonResourceRules.length === 0) {
    errors.push(
      fieldError.required(
        fieldPath,
        'at least one of resourceRules and nonResourceRules has to be non-empty',
      ),
    );
  }
  for (const [index, rule] of resourceRules.entries()) {
    errors.push(...validateResourceRule(rule, fieldPath.child('resourceRules').index(index)));
  }
  for (const [index, rule] of nonResourceRules.entries()) {
    errors.push(...validateNonResourceRule(rule, fieldPath.child('nonResourceRules').index(index)));
  }
  return errors;
}

const subjectFields = { ServiceAccount: 'serviceAccount', User: 'user', Group: 'group' } as const;
const subjectKinds = ['Group', 'ServiceAccount', 'User'] as const;

/** A subject must have the member that its kind names, and no other. */
function validateSubject(subject: Subject, fieldPath: FieldPath): FieldError[] {
  const kind = subjectKinds.find((subjectKind) => subjectKind === subject.kind);
  if (!kind) return checkOneOf(subject.kind, subjectKinds, fieldPath.child('kind'));
  const field = subjectFields[kind];
  const part = subject[field];
  const errors = part
    ? kind === 'ServiceAccount'
      ? validateAccount(part as ServiceAccountSubject, fieldPath.child(field))
      : checkRequired(part.name, fieldPath.child(field, 'name'))
    : [
        fieldError.required(
          fieldPath.child(field),
          `${field} is required when subject kind is '${kind}'`,
        ),
      ];
  for (const other of ['ServiceAccount', 'User', 'Group'] as const) {
    const otherField = subjectFields[other];
    if (other === kind || subject[otherField] === undefined) continue;
    errors.push(
      fieldError.forbidden(
        fieldPath.child(otherField),
        `${otherField} is forbidden when subject kind is not '${other}'`,
      ),
    );
  }
  return errors;
}

function validateAccount(
  { name = '', namespace = '' }: ServiceAccountSubject,
  fieldPath: FieldPath,
): FieldError[] {
  const errors =
    name === '*' ? [] : checkRequired(name, fieldPath.child('name'), checkDns1123Subdomain);
  if (namespace === '') {
    errors.push(
      fieldError.required(
        fieldPath.child('namespace'),
        'must specify namespace for service account',
      ),
    );
  }
  const format = namespace === '' ? [] : checkDns1123Label(namespace);
  return [...errors, ...invalidEach(fieldPath.child('namespace'), namespace, format)];
}

function validateVerbs(given: readonly string[] | undefined, fieldPath: FieldPath): FieldError[] {
  const errors = validateWildcardList(
    given,
    'verbs must contain at least one value',
    'verbs',
    fieldPath,
  );
  if (errors.length > 0 || !given || given.includes('*')) return errors;
  return given.every((verb) => verbs.includes(verb))
    ? []
    : [fieldError.notSupported(fieldPath, given, verbs)];
}

function validateResourceRule(rule: ResourcePolicyRule, fieldPath: FieldPath): FieldError[] {
  return [
    ...validateVerbs(rule.verbs, fieldPath.child('verbs')),
    ...validateWildcardList(
      rule.apiGroups,
      'resource rules must supply at least one api group',
      'api groups',
      fieldPath.child('apiGroups'),
    ),
    ...validateWildcardList(
      rule.resources,
      'resource rules must supply at least one resource',
      'resources',
      fieldPath.child('resources'),
    ),
    ...validateNamespaces(rule, fieldPath.child('namespaces')),
  ];
}

function validateNamespaces(
  { namespaces = [], clusterScope = false }: ResourcePolicyRule,
  fieldPath: FieldPath,
): FieldError[] {
  if (namespaces.length === 0 && clusterScope) return [];
  const errors = validateWildcardList(
    namespaces,
    'resource rules that are not cluster scoped must supply at least one namespace',
    'namespaces',
    fieldPath,
  );
  if (namespaces.includes('*')) return errors;
  for (const [index, namespace] of namespaces.entries()) {
    const messages = checkDns1123Label(namespace).map(
      (message) => `each member of this list must be '*' or a DNS-1123 label; ${message}`,
    );
    errors.push(...invalidEach(fieldPath.index(index), namespace, messages));
  }
  return errors;
}

function validateNonResourceRule(rule: NonResourcePolicyRule, fieldPath: FieldPath): FieldError[] {
  const urls = rule.nonResourceURLs ?? [];
  const urlsAt = fieldPath.child('nonResourceURLs');
  return [
    ...validateVerbs(rule.verbs, fieldPath.child('verbs')),
    ...validateWildcardList(
      urls,
      'nonResourceURLs must contain at least one value',
      'non-resource URLs',
      urlsAt,
    ),
    ...(urls.includes('*')
      ? []
      : urls.flatMap((url, index) => validateUrlPath(url, urlsAt.index(index)))),
  ];
}

function validateUrlPath(url: string, fieldPath: FieldPath): FieldError[] {
  if (url === '/') return [];
  const problem = urlPathProblem(url);
  return problem === undefined ? [] : [fieldError.invalid(fieldPath, url, problem)];
}

function urlPathProblem(url: string): string | undefined {
  if (url === '') return 'must not be empty';
  if (!url.startsWith('/')) return 'must start with slash';
  if (url.includes(' ')) return 'must not contain white-space';
  if (url.includes('//')) return 'must not contain double slash';
  const star = url.indexOf('*');
  const isSuffix = star === url.length - 1 && url.endsWith('/*');
  return star < 0 || isSuffix ? undefined : 'wildcard can only do suffix matching';
}
