/** Validates ports given by number or by name. */
import {
  checkPortName,
  checkPortNumber,
  type FieldError,
  type FieldPath,
  type IntOrString,
} from '@orch/apimachinery';
import { invalidEach } from '../../shared/rules.js';

/** Validates a port given by number or by name. */
export function validatePort(port: IntOrString | undefined, fieldPath: FieldPath): FieldError[] {
  const value = port ?? 0;
  return invalidEach(
    fieldPath,
    value,
    typeof value === 'number' ? checkPortNumber(value) : checkPortName(value),
  );
}
