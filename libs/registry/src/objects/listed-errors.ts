/** The validation errors of an object with too many errors to list. */
import { badRequest, type FieldError } from '@orch/apimachinery';

/**
 * The errors that the rules find. Rules hand lists on as arguments, and an engine takes only so
 * many of those (more than 100,000): a hostile object can have more. Throws 400 for such a one.
 */
export function listedErrors(find: () => readonly FieldError[]): readonly FieldError[] {
  try {
    return find();
  } catch (error) {
    if (error instanceof RangeError && /call stack/.test(error.message)) {
      throw badRequest('the object has too many errors, or is nested too deeply, to be checked');
    }
    throw error;
  }
}
