/** Rules of taints, of nodes and of the annotation that once held them. */
import { checkLabelValue, type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import type { Taint } from '@orch/types/core/v1';
import { checkQualified, checkRequiredOneOf } from '../shared/rules.js';

export const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const;

export function validateTaints(taints: readonly Taint[], listAt: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, taint] of taints.entries()) {
    const at = listAt.index(index);
    const problems = checkLabelValue(taint.value ?? '');
    errors.push(...checkQualified(taint.key, at.child('key')));
    if (problems.length > 0) {
      errors.push(fieldError.invalid(at.child('value'), taint.value ?? '', problems.join(';')));
    }
    errors.push(...checkRequiredOneOf(taint.effect, taintEffects, at.child('effect')));
    const id = `${taint.key}:${taint.effect}`;
    if (seen.has(id)) errors.push({ ...fieldError.duplicate(at, taint), detail: uniqueTaint });
    seen.add(id);
  }
  return errors;
}

const uniqueTaint = 'taints must be unique by key and effect pair';
