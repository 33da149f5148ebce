/** Validates taints of nodes, and of the deprecated annotation for them. */
import {
  checkLabelValue,
  type FieldError,
  type FieldPath,
  fieldError,
  Literal,
  structLiteral,
} from '@orch/apimachinery';
import type { Taint } from '@orch/types/core/v1';
import { checkQualified, checkRequiredOneOf } from '../../shared/rules.js';

export const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const;

export function validateTaints(taints: readonly Taint[], listAt: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, taint] of taints.entries()) {
    const fieldPath = listAt.index(index);
    const problems = checkLabelValue(taint.value ?? '');
    errors.push(...checkQualified(taint.key, fieldPath.child('key')));
    if (problems.length > 0) {
      errors.push(
        fieldError.invalid(fieldPath.child('value'), taint.value ?? '', problems.join(';')),
      );
    }
    errors.push(...checkRequiredOneOf(taint.effect, taintEffects, fieldPath.child('effect')));
    const id = `${taint.key}:${taint.effect}`;
    if (seen.has(id)) {
      errors.push({ ...fieldError.duplicate(fieldPath, taintLiteral(taint)), detail: uniqueTaint });
    }
    seen.add(id);
  }
  return errors;
}

function taintLiteral({ key = '', value = '', effect = '', timeAdded }: Taint): Literal {
  return structLiteral('core.Taint', {
    Key: key,
    Value: value,
    Effect: effect,
    TimeAdded: new Literal(timeAdded ?? '<nil>'),
  });
}

const uniqueTaint = 'taints must be unique by key and effect pair';
