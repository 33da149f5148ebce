/**
 * Rules of webhooks that admit objects. The first version asks less than the stable one, and what is
 * stored already stays allowed.
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
import type { RequestContext } from '../definition.js';
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

/** What is asked beyond what was asked at first. */
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

/** `old`: what is stored, at update. */
export function validateWebhooks(
  webhooks: readonly Webhook[] = [],
  context: RequestContext,
  old?: readonly Webhook[],
): FieldError[] {
  const strict = strictness(context.requestVersion?.version, old);
  const names = namesOf(webhooks);
  return webhooks.flatMap((hook, index) => {
    const at = path('webhooks').index(index);
    const errors = [
      ...validateWebhook(hook, strict, at),
      ...validateReviewVersions(
        hook.admissionReviewVersions ?? [],
        strict.reviewVersion,
        at.child('admissionReviewVersions'),
      ),
    ];
    const { name } = hook;
    if (name && strict.uniqueNames && names.indexOf(name) < index) {
      errors.push(fieldError.duplicate(at.child('name'), name));
    }
    return errors;
  });
}

function checkIfSet(value: string | undefined, values: readonly string[], at: FieldPath) {
  return value === undefined ? [] : checkOneOf(value, values, at);
}

function validateWebhook(hook: Webhook, strict: Strictness, at: FieldPath): FieldError[] {
  const allowed = strict.sideEffects ? withoutSideEffects : sideEffects;
  const { timeoutSeconds } = hook;
  const errors = [
    ...validateName(hook.name ?? '', at.child('name')),
    ...(hook.rules ?? []).flatMap((rule, index) =>
      validateRule(rule, at.child('rules').index(index)),
    ),
    ...checkIfSet(hook.failurePolicy, ['Fail', 'Ignore'], at.child('failurePolicy')),
    ...checkIfSet(hook.matchPolicy, ['Equivalent', 'Exact'], at.child('matchPolicy')),
    ...(hook.sideEffects === undefined
      ? [fieldError.required(at.child('sideEffects'), `must specify one of ${allowed.join(', ')}`)]
      : checkOneOf(hook.sideEffects, allowed, at.child('sideEffects'))),
  ];
  if (timeoutSeconds !== undefined && (timeoutSeconds < 1 || timeoutSeconds > 30)) {
    errors.push(
      fieldError.invalid(
        at.child('timeoutSeconds'),
        timeoutSeconds,
        'the timeout value must be between 1 and 30 seconds',
      ),
    );
  }
  const reinvocation = 'reinvocationPolicy' in hook ? hook.reinvocationPolicy : undefined;
  errors.push(
    ...validateLabelSelector(hook.namespaceSelector, at.child('namespaceSelector')),
    ...validateLabelSelector(hook.objectSelector, at.child('objectSelector')),
    ...checkIfSet(reinvocation, ['IfNeeded', 'Never'], at.child('reinvocationPolicy')),
    ...validateWebhookClient(hook.clientConfig, at.child('clientConfig')),
  );
  return errors;
}

/** A domain of three parts at least. */
function validateName(name: string, at: FieldPath): FieldError[] {
  if (name === '') return [fieldError.required(at)];
  const messages = checkDns1123Subdomain(name);
  if (messages.length > 0) return [fieldError.invalid(at, name, messages.join(','))];
  if (name.split('.').length >= 3) return [];
  return [
    fieldError.invalid(
      at,
      name,
      'should be a domain with at least three segments separated by dots',
    ),
  ];
}

/** Of a list that is not empty: `*` stands alone. */
function validateWildcard(
  values: readonly string[] | undefined,
  others: string,
  at: FieldPath,
): FieldError[] {
  if (!values || values.length === 0) return [fieldError.required(at)];
  if (values.length === 1 || !values.includes('*')) return [];
  return [fieldError.invalid(at, values, `if '*' is present, must not specify other ${others}`)];
}

function requiredEach(values: readonly string[] | undefined, at: FieldPath): FieldError[] {
  return (values ?? []).flatMap((value, index) =>
    value === '' ? [fieldError.required(at.index(index))] : [],
  );
}

function validateRule(rule: RuleWithOperations, at: FieldPath): FieldError[] {
  const operationsAt = at.child('operations');
  return [
    ...validateWildcard(rule.operations, 'operations', operationsAt),
    ...(rule.operations ?? []).flatMap((operation, index) =>
      checkOneOf(operation, operations, operationsAt.index(index)),
    ),
    ...validateWildcard(rule.apiGroups, 'API groups', at.child('apiGroups')),
    ...validateWildcard(rule.apiVersions, 'API versions', at.child('apiVersions')),
    ...requiredEach(rule.apiVersions, at.child('apiVersions')),
    ...validateResources(rule.resources ?? [], at.child('resources')),
    ...checkIfSet(rule.scope, ['*', 'Cluster', 'Namespaced'], at.child('scope')),
  ];
}

/** `resource`, `resource/subresource`, with `*` for either: nothing may be named twice by wildcards. */
function validateResources(resources: readonly string[], at: FieldPath): FieldError[] {
  if (resources.length === 0) return [fieldError.required(at)];
  const errors: FieldError[] = [];
  const allSubresourcesOf = new Set<string>();
  const ofAllResources = new Set<string>();
  let endsPlain = false;
  for (const [index, text] of resources.entries()) {
    const field = at.index(index);
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
        at,
        resources,
        `if '${wildcard}' is present, must not specify other ${others}`,
      ),
    );
  if (resources.length > 1 && resources.includes('*/*')) refuse('*/*', 'resources');
  if (resources.includes('*') && endsPlain) refuse('*', 'resources without subresources');
  return errors;
}
