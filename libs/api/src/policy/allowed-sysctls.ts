/** Validates the sysctls that a policy allows and forbids: names, or prefixes with a star. */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import { sysctlLengthMax } from '../core/container/security-validation.js';

const pattern = '([a-z0-9]([-_a-z0-9]*[a-z0-9])?\\.)*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]';
const expression = new RegExp(`^(?:${pattern})$`);

export function validateSysctls(
  sysctls: readonly string[] = [],
  fieldPath: FieldPath,
): FieldError[] {
  const errors = sysctls.flatMap((sysctl, index) => {
    if (sysctl === '') {
      return [fieldError.invalid(fieldPath.index(index), sysctl, 'empty sysctl not allowed')];
    }
    if (sysctl.length <= sysctlLengthMax && expression.test(sysctl)) return [];
    const message = `must have at most ${sysctlLengthMax} characters and match regex ${pattern}`;
    return [fieldError.invalid(fieldPath.index(index), sysctl, message)];
  });
  if (sysctls.includes('*') && sysctls.length > 1) {
    const message = "if '*' is present, must not specify other sysctls";
    errors.push(fieldError.forbidden(fieldPath.child('items'), message));
  }
  return errors;
}

export function validateNoOverlap(
  allowed: readonly string[] = [],
  forbidden: readonly string[] = [],
  fieldPath: FieldPath,
): FieldError[] {
  return allowed.flatMap((sysctl, index) =>
    forbidden
      .filter((other) => overlap(sysctl, other))
      .map((other) =>
        fieldError.invalid(fieldPath.index(index), sysctl, `sysctl overlaps with ${other}`),
      ),
  );
}

function overlap(left: string, right: string): boolean {
  return covers(left, right) || covers(right, left);
}

/** Reports whether every name that matches `narrow` matches `wide`. */
function covers(wide: string, narrow: string): boolean {
  if (!wide.endsWith('*')) return wide === narrow;
  return narrow.replace(/\*$/, '').startsWith(wide.slice(0, -1));
}
