/** The age of objects, for sorting. */
import { parseTime } from '@orch/apimachinery';

/** Milliseconds since the epoch; 0 for an object that does not say. */
export function createdMs(object: { readonly metadata?: { readonly creationTimestamp?: string } }) {
  return parseTime(object.metadata?.creationTimestamp) ?? 0;
}
