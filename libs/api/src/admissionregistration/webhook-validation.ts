/**
 * Validates admission webhooks. The beta version has fewer rules than the stable one, and
 * violations that are already stored stay allowed.
 */
import {
  checkDns1123Subdomain,
  type FieldError,
  type FieldPath,
  fieldError,
  path,
  validateLabelSelector,
} from '@orch/apimachinery';
import type {
  MutatingWebhook,
  RuleWithOperations,
  ValidatingWebhook,
} from '@orch/types/admissionregistration/v1';
import type { StrategyContext } from '../definition.js';
import { checkOneOf } from '../shared/rules.js';
import {
  hasKnownReviewVersion,
  validateReviewVersions,
  validateWebhookClient,
} from '../shared/webhook-client.js';

export type Webhook = ValidatingWebhook | MutatingWebhook;

const withoutSideEffects = ['None', 'NoneOnDryRun'];
const sideEffects = [...withoutSideEffects, 'Some', 'Unknown'];
const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];

/** The rules beyond those of the beta version. */
interface Strictness {
  readonly sideEffects: boolean;
  readonly reviewVersion: boolean;
  readonly uniqueNames: boolean;
}

function namesOf(webhooks: readonly Webhook[]): string[] {
  return webhooks.map(({ name }) => name);
}

function strictness(version: string | undefined, old?: readonly Webhook[]): Strictness {
  const isStable = version !== 'v1beta1';
  if (!old) return { sideEffects: isStable, reviewVersion: true, uniqueNames: isStable };
  const names = namesOf(old);
  return {
    sideEffects:
      isStable && old.every((hook) => withoutSideEffects.includes(hook.sideEffects ?? '')),
    reviewVersion: old.every((hook) => hasKnownReviewVersion(hook.admissionReviewVersions ?? [])),
    uniqueNames: isStable && new Set(names).size === names.length,
  };
}

/** `old`: the stored object, on update. */
export function validateWebhooks(
  webhooks: readonly Webhook[] = [],
  context: StrategyContext,
  old?: readonly Webhook[],
): FieldError[] {
  const strict = strictness(context.requestVersion?.version, old);
  const names = namesOf(webhooks);
  return webhooks.flatMap((hook, index) => {
    const fieldPath = path('webhooks').index(index);
    const errors = [
      ...validateWebhook(hook, strict, fieldPath),
      ...validateReviewVersions(
        hook.admissionReviewVersions ?? [],
        strict.reviewVersion,
        fieldPath.child('admissionReviewVersions'),
      ),
    ];
    const { name } = hook;
    if (name && strict.uniqueNames && names.indexOf(name) < index) {
      errors.push(fieldError.duplicate(fieldPath.child('name'), name));
    }
    return errors;
  });
}

function checkIfSet(value: string | undefined, values: readonly string[], fieldPath: FieldPath) {
  return value === undefined ? [] : checkOneOf(value, values, fieldPath);
}

function validateWebhook(hook: Webhook, strict: Strictness, fieldPath: FieldPath): FieldError[] {
  const allowed = strict.sideEffects ? withoutSideEffects : sideEffects;
  const { timeoutSeconds } = hook;
  const errors = [
    ...validateName(hook.name ?? '', fieldPath.child('name')),
    ...(hook.rules ?? []).flatMap((rule, index) =>
      validateRule(rule, fieldPath.child('rules').index(index)),
    ),
    ...checkIfSet(hook.failurePolicy, ['Fail', 'Ignore'], fieldPath.child('failurePolicy')),
    ...checkIfSet(hook.matchPolicy, ['Equivalent', 'Exact'], fieldPath.child('matchPolicy')),
    ...(hook.sideEffects === undefined
      ? [
          fieldError.required(
            fieldPath.child('sideEffects'),
            `must specify one of ${allowed.join(', ')}`,
          ),
        ]
      : checkOneOf(hook.sideEffects, allowed, fieldPath.child('sideEffects'))),
  ];
  if (timeoutSeconds !== undefined && (timeoutSeconds < 1 || timeoutSeconds > 30)) {
    errors.push(
      fieldError.invalid(
        fieldPath.child('timeoutSeconds'),
        timeoutSeconds,
        'the timeout value must be between 1 and 30 seconds',
      ),
    );
  }
  const reinvocation = 'reinvocationPolicy' in hook ? hook.reinvocationPolicy : undefined;
  errors.push(
    ...validateLabelSelector(hook.namespaceSelector, fieldPath.child('namespaceSelector')),
    ...validateLabelSelector(hook.objectSelector, fieldPath.child('objectSelector')),
    ...checkIfSet(reinvocation, ['IfNeeded', 'Never'], fieldPath.child('reinvocationPolicy')),
    ...validateWebhookClient(hook.clientConfig, fieldPath.child('clientConfig')),
  );
  return errors;
}

/** The name must be a domain with at least three labels. */
function validateName(name: string, fieldPath: FieldPath): FieldError[] {
  if (name === '') return [fieldError.required(fieldPath)];
  const messages = checkDns1123Subdomain(name);
  if (messages.length > 0) return [fieldError.invalid(fieldPath, name, messages.join(','))];
  if (name.split('.').length >= 3) return [];
  return [
    fieldError.invalid(
      fieldPath,
      name,
      'should be a domain with at least three segments separated by dots',
    ),
  ];
}

/** `*` must be the only element of a non-empty list. */
function validateWildcard(
  values: readonly string[] | undefined,
  others: string,
  fieldPath: FieldPath,
): FieldError[] {
  if (!values || values.length === 0) return [fieldError.required(fieldPath)];
  if (values.length === 1 || !values.includes('*')) return [];
  return [
    fieldError.invalid(fieldPath, values, `if '*' is present, must not specify other ${others}`),
  ];
}

function requiredEach(values: readonly string[] | undefined, fieldPath: FieldPath): FieldError[] {
  return (values ?? []).flatMap((value, index) =>
    value === '' ? [fieldError.required(fieldPath.index(index))] : [],
  );
}

function validateRule(rule: RuleWithOperations, fieldPath: FieldPath): FieldError[] {
  const operationsAt = fieldPath.child('operations');
  return [
    ...validateWildcard(rule.operations, 'operations', operationsAt),
    ...(rule.operations ?? []).flatMap((operation, index) =>
      checkOneOf(operation, operations, operationsAt.index(index)),
    ),
    ...validateWildcard(rule.apiGroups, 'API groups', fieldPath.child('apiGroups')),
    ...validateWildcard(rule.apiVersions, 'API versions', fieldPath.child('apiVersions')),
    ...requiredEach(rule.apiVersions, fieldPath.child('apiVersions')),
    ...validateResources(rule.resources ?? [], fieldPath.child('resources')),
    ...checkIfSet(rule.scope, ['*', 'Cluster', 'Namespaced'], fieldPath.child('scope')),
  ];
}

/**
 * `resource` or `resource/subresource`, with `*` for either; a wildcard must not overlap with other
 * entries.
 */
function validateResources(resources: readonly string[], fieldPath: FieldPath): FieldError[] {
  if (resources.length === 0) return [fieldError.required(fieldPath)];
  const errors: FieldError[] = [];
  const allSubresourcesOf = new Set<string>();
  const ofAllResources = new Set<string>();
  let endsPlain = false;
  for (const [index, text] of resources.entries()) {
    const field = fieldPath.index(index);
    if (text === '') {
      errors.push(fieldError.required(field));
      continue;
    }
    const slash = text.indexOf('/');
    if (slash < 0) {
      endsPlain = text !== '*';
      continue;
    }
    const resource = text.slice(0, slash);
    const subresource = text.slice(slash + 1);
    const clash = (wildcard: string) =>
      errors.push(
        fieldError.invalid(field, text, `if '${wildcard}' is present, must not specify ${text}`),
      );
    if (allSubresourcesOf.has(resource)) clash(`${resource}/*`);
    if (ofAllResources.has(subresource)) clash(`*/${subresource}`);
    if (subresource === '*') allSubresourcesOf.add(resource);
    if (resource === '*') ofAllResources.add(subresource);
  }
  const refuse = (wildcard: string, others: string) =>
    errors.push(
      fieldError.invalid(
        fieldPath,
        resources,
        `if '${wildcard}' is present, must not specify other ${others}`,
      ),
    );
  if (resources.length > 1 && resources.includes('*/*')) refuse('*/*', 'resources');
  if (resources.includes('*') && endsPlain) refuse('*', 'resources without subresources');
  return errors;
}
