/** Validates file paths in volumes and mounts. */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';

const noBacksteps = "must not contain '..'";

export function validateNoBacksteps(path: string, fieldPath: FieldPath): FieldError[] {
  return path.split('/').includes('..') ? [fieldError.invalid(fieldPath, path, noBacksteps)] : [];
}

/** The path must not leave its base directory. */
export function validateLocalDescendingPath(path: string, fieldPath: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (path.startsWith('/'))
    errors.push(fieldError.invalid(fieldPath, path, 'must be a relative path'));
  errors.push(...validateNoBacksteps(path, fieldPath));
  return errors;
}

/** Like above; names that the volume reserves are not allowed either. */
export function validateLocalNonReservedPath(path: string, fieldPath: FieldPath): FieldError[] {
  const errors = validateLocalDescendingPath(path, fieldPath);
  if (path.startsWith('..') && !path.startsWith('../')) {
    errors.push(fieldError.invalid(fieldPath, path, "must not start with '..'"));
  }
  return errors;
}
