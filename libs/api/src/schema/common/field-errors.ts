/** Error lists with a limit. */
import type { FieldError } from '@orch/apimachinery';
import { issueCountMax } from './limits.js';

/** Appends errors up to the limit; drops the rest. */
export function addErrors(errors: FieldError[], more: readonly FieldError[]): void {
  for (const error of more) {
    if (errors.length >= issueCountMax) return;
    errors.push(error);
  }
}
