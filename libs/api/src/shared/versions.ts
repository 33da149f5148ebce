/** Deprecated versions of a kind. */
import type { Deprecation } from '../definition.js';

/** A deprecation whose replacement is another kind, or its list if upstream names that. */
export function replacedBy(
  group: string,
  version: string,
  kind: string,
  releases: { readonly since: string; readonly unavailableFrom: string },
): Deprecation {
  return { ...releases, use: { group, version, kind } };
}
