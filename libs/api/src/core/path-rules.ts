/** Rules of file paths in volumes and mounts. */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';

const noBacksteps = "must not contain '..'";

export function validateNoBacksteps(path: string, at: FieldPath): FieldError[] {
  return path.split('/').includes('..') ? [fieldError.invalid(at, path, noBacksteps)] : [];
}

/** Below the place it is used in. */
export function validateLocalDescendingPath(path: string, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (path.startsWith('/')) errors.push(fieldError.invalid(at, path, 'must be a relative path'));
  errors.push(...validateNoBacksteps(path, at));
  return errors;
}

/** As above, and free of names that the volume keeps for itself. */
export function validateLocalNonReservedPath(path: string, at: FieldPath): FieldError[] {
  const errors = validateLocalDescendingPath(path, at);
  if (path.startsWith('..') && !path.startsWith('../')) {
    errors.push(fieldError.invalid(at, path, "must not start with '..'"));
  }
  return errors;
}
