/** Lists of errors that do not grow without end. */
import type { FieldError } from '@orch/apimachinery';
import { issueCountMax } from './limits.js';

/** Puts errors behind others, as many as are told; more are not kept. */
export function addErrors(errors: FieldError[], more: readonly FieldError[]): void {
  for (const error of more) {
    if (errors.length >= issueCountMax) return;
    errors.push(error);
  }
}
