/** Versions of a kind that clients are asked to leave. */
import type { Deprecation } from '../definition.js';

/** A version that is given up for another one of the kind, or of its list where clients know it so. */
export function replacedBy(
  group: string,
  version: string,
  kind: string,
  releases: { readonly since: string; readonly unavailableFrom: string },
): Deprecation {
  return { ...releases, use: { group, version, kind } };
}
