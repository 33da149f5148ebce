/** Validates the scheduling constraints of pods: selectors, affinity, spread and tolerations. */
import {
  checkDns1123Label,
  checkDns1123Subdomain,
  checkLabelValue,
  type FieldError,
  type FieldPath,
  fieldError,
  validateLabelSelector,
} from '@orch/apimachinery';
import type {
  Affinity,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinityTerm,
  Toleration,
  TopologySpreadConstraint,
  WeightedPodAffinityTerm,
} from '@orch/types/core/v1';
import { checkOneOf, checkQualified, invalidEach } from '../../shared/rules.js';
import { taintEffects } from './taint-validation.js';

const required = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';

export function validateAffinity(
  affinity: Affinity | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  if (!affinity) return [];
  const errors: FieldError[] = [];
  const { nodeAffinity } = affinity;
  const nodeAt = fieldPath.child('nodeAffinity');
  if (nodeAffinity?.[required]) {
    errors.push(...validateNodeSelector(nodeAffinity[required], nodeAt.child(required)));
  }
  for (const [index, term] of (nodeAffinity?.[preferred] ?? []).entries()) {
    const field = nodeAt.child(preferred).index(index);
    errors.push(...validateWeight(term.weight, field.child('weight')));
    errors.push(...validateNodeSelectorTerm(term.preference, field.child('preference')));
  }
  for (const name of ['podAffinity', 'podAntiAffinity'] as const) {
    const terms = affinity[name];
    const field = fieldPath.child(name);
    for (const [index, term] of (terms?.[required] ?? []).entries()) {
      errors.push(...validatePodTerm(term, field.child(required).index(index)));
    }
    errors.push(...validateWeightedTerms(terms?.[preferred] ?? [], field.child(preferred)));
  }
  return errors;
}

function validateWeightedTerms(
  terms: readonly WeightedPodAffinityTerm[],
  fieldPath: FieldPath,
): FieldError[] {
  return terms.flatMap((term, index) => [
    ...validateWeight(term.weight, fieldPath.index(index).child('weight')),
    ...validatePodTerm(term.podAffinityTerm, fieldPath.index(index).child('podAffinityTerm')),
  ]);
}

function validateWeight(weight: number | undefined, fieldPath: FieldPath): FieldError[] {
  const value = weight ?? 0;
  return value < 1 || value > 100
    ? [fieldError.invalid(fieldPath, value, 'must be in the range 1-100')]
    : [];
}

export function validateNodeSelector(selector: NodeSelector, fieldPath: FieldPath): FieldError[] {
  const terms = selector.nodeSelectorTerms ?? [];
  const field = fieldPath.child('nodeSelectorTerms');
  if (terms.length === 0) {
    return [fieldError.required(field, 'must have at least one node selector term')];
  }
  return terms.flatMap((term, index) => validateNodeSelectorTerm(term, field.index(index)));
}

function validateNodeSelectorTerm(
  term: NodeSelectorTerm | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  return [
    ...(term?.matchExpressions ?? []).flatMap((requirement, index) =>
      validateExpression(requirement, fieldPath.child('matchExpressions').index(index)),
    ),
    ...(term?.matchFields ?? []).flatMap((requirement, index) =>
      validateMatchField(requirement, fieldPath.child('matchFields').index(index)),
    ),
  ];
}

function validateExpression(
  requirement: NodeSelectorRequirement,
  fieldPath: FieldPath,
): FieldError[] {
  return [
    ...validateValueCount(requirement, fieldPath),
    ...checkQualified(requirement.key, fieldPath.child('key')),
  ];
}

function validateValueCount(
  requirement: NodeSelectorRequirement,
  fieldPath: FieldPath,
): FieldError[] {
  const valueCount = requirement.values?.length ?? 0;
  const values = fieldPath.child('values');
  switch (requirement.operator) {
    case 'In':
    case 'NotIn':
      return valueCount > 0
        ? []
        : [fieldError.required(values, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      return valueCount === 0
        ? []
        : [
            fieldError.forbidden(
              values,
              "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            ),
          ];
    case 'Gt':
    case 'Lt':
      return valueCount === 1
        ? []
        : [
            fieldError.required(
              values,
              "must be specified single value when `operator` is 'Lt' or 'Gt'",
            ),
          ];
    default:
      return [
        fieldError.invalid(
          fieldPath.child('operator'),
          requirement.operator ?? '',
          'not a valid selector operator',
        ),
      ];
  }
}

function validateMatchField(
  requirement: NodeSelectorRequirement,
  fieldPath: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  const values = requirement.values ?? [];
  if (requirement.operator === 'In' || requirement.operator === 'NotIn') {
    if (values.length !== 1) {
      errors.push(
        fieldError.required(
          fieldPath.child('values'),
          "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
        ),
      );
    }
  } else {
    errors.push(
      fieldError.invalid(
        fieldPath.child('operator'),
        requirement.operator ?? '',
        'not a valid selector operator',
      ),
    );
  }
  if (requirement.key !== 'metadata.name') {
    errors.push(
      fieldError.invalid(
        fieldPath.child('key'),
        requirement.key ?? '',
        'not a valid field selector key',
      ),
    );
    return errors;
  }
  for (const [index, value] of values.entries()) {
    errors.push(
      ...invalidEach(fieldPath.child('values').index(index), value, checkDns1123Subdomain(value)),
    );
  }
  return errors;
}

function validatePodTerm(term: PodAffinityTerm | undefined, fieldPath: FieldPath): FieldError[] {
  const errors = [
    ...validateLabelSelector(term?.labelSelector, fieldPath.child('labelSelector')),
    ...validateLabelSelector(term?.namespaceSelector, fieldPath.child('namespaceSelector')),
  ];
  for (const namespace of term?.namespaces ?? []) {
    errors.push(
      ...invalidEach(fieldPath.child('namespace'), namespace, checkDns1123Label(namespace)),
    );
  }
  if (!term?.topologyKey) {
    errors.push(fieldError.required(fieldPath.child('topologyKey'), 'can not be empty'));
  }
  errors.push(...checkQualified(term?.topologyKey, fieldPath.child('topologyKey')));
  return errors;
}

export function validateTolerations(
  tolerations: readonly Toleration[] | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  return (tolerations ?? []).flatMap((toleration, index) =>
    validateToleration(toleration, fieldPath.index(index)),
  );
}

function validateToleration(toleration: Toleration, fieldPath: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const { key, operator, value, effect } = toleration;
  if (key) errors.push(...checkQualified(key, fieldPath.child('key')));
  else if (operator !== 'Exists') {
    errors.push(
      fieldError.invalid(
        fieldPath.child('operator'),
        operator ?? '',
        'operator must be Exists when `key` is empty, which means "match all values and all keys"',
      ),
    );
  }
  if (toleration.tolerationSeconds !== undefined && effect !== 'NoExecute') {
    errors.push(
      fieldError.invalid(
        fieldPath.child('effect'),
        effect ?? '',
        "effect must be 'NoExecute' when `tolerationSeconds` is set",
      ),
    );
  }
  if (!operator || operator === 'Equal') {
    const messages = checkLabelValue(value ?? '');
    if (messages.length > 0) {
      errors.push(fieldError.invalid(fieldPath.child('operator'), value ?? '', messages.join(';')));
    }
  } else if (operator === 'Exists') {
    if (value) {
      errors.push(
        fieldError.invalid(
          fieldPath.child('operator'),
          toleration,
          "value must be empty when `operator` is 'Exists'",
        ),
      );
    }
  } else {
    errors.push(
      fieldError.notSupported(fieldPath.child('operator'), operator, ['Equal', 'Exists']),
    );
  }
  if (effect) errors.push(...checkOneOf(effect, taintEffects, fieldPath.child('effect')));
  return errors;
}

export function validateSpread(
  constraints: readonly TopologySpreadConstraint[] | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  const pairs = (constraints ?? []).map(
    ({ topologyKey, whenUnsatisfiable }) => `{${topologyKey}, ${whenUnsatisfiable}}`,
  );
  for (const [index, constraint] of (constraints ?? []).entries()) {
    const field = fieldPath.index(index);
    const { maxSkew, topologyKey, whenUnsatisfiable } = constraint;
    if ((maxSkew ?? 0) <= 0) {
      errors.push(
        fieldError.invalid(field.child('maxSkew'), maxSkew ?? 0, 'must be greater than zero'),
      );
    }
    if (!topologyKey) {
      errors.push(fieldError.required(field.child('topologyKey'), 'can not be empty'));
    }
    errors.push(
      ...checkOneOf(
        whenUnsatisfiable,
        ['DoNotSchedule', 'ScheduleAnyway'],
        field.child('whenUnsatisfiable'),
      ),
    );
    // The error names the earlier one of two duplicates.
    const pair = pairs[index] ?? '';
    if (pairs.indexOf(pair, index + 1) > index) {
      errors.push(fieldError.duplicate(field.child('{topologyKey, whenUnsatisfiable}'), pair));
    }
  }
  return errors;
}
