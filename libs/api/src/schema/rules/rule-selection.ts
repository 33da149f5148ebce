/**
 * Selects the rules for the schemas of a definition: the beta version has fewer rules than the
 * stable one, and stored violations stay allowed.
 */

import { path } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type {
  CustomResourceDefinitionSpec,
  JSONSchemaProps,
} from '@orch/types/apiextensions/v1beta1';
import { hasUnprunedDefaults } from './default-rules.js';
import { hasNonAtomicSet, mapKeyErrors } from './list-rules.js';
import { hasDefaults, hasExtensions, schemasOf, someSchema } from './parts.js';
import { hasUnknownType } from './schema-member-rules.js';
import type { SchemaRules } from './schema-rules.js';
import { isStructural } from './structural-rules.js';

/** `version`: the version of the request. `old`: the stored spec, on update. */
export function schemaRules(
  version: 'v1' | 'v1beta1',
  spec: CustomResourceDefinitionSpec,
  old?: CustomResourceDefinitionSpec,
): SchemaRules {
  const isStable = version === 'v1';
  const schemas = schemasOf(spec);
  const stored = old ? schemasOf(old) : [];
  const none = (has: (schema: JSONSchemaProps) => boolean) => !stored.some(has);
  const noneWithin = (has: (schema: JSONSchemaProps) => boolean) =>
    none((schema) => someSchema(schema, has));
  const allowDefaults = isStable || stored.some(hasDefaults);
  const why = `(cannot set default values in ${dialect().apiVersion('apiextensions', 'v1beta1')} CRDs, must use ${dialect().apiVersion('apiextensions', 'v1')})`;
  return {
    allowDefaults,
    ...(!allowDefaults && { defaultsForbiddenWhy: why }),
    requireStructural:
      (isStable && none((schema) => !isStructural(schema))) ||
      !spec.preserveUnknownFields ||
      (allowDefaults && schemas.some(hasDefaults)) ||
      schemas.some(hasExtensions),
    requireValidTypes: isStable && noneWithin(hasUnknownType),
    requirePrunedDefaults: none(hasUnprunedDefaults),
    requireAtomicSets: noneWithin(hasNonAtomicSet),
    requireMapListKeys: noneWithin((schema) => mapKeyErrors(schema, path()).length > 0),
  };
}
