/** Schemas of custom resources: what they may say, and what they do to objects. */
export { compileSchema, type StructuralSchema } from './compile-schema.js';
export { columnErrors, fieldAt, readFieldPath, scaleErrors } from './definition-paths.js';
export { cellText, type JsonPath, readJsonPath } from './json-path.js';
export { JsonPathError } from './json-path-steps.js';
export type { EnvelopeSchemas, OpenApiVersion } from './openapi.js';
export { hasDefaults, hasExtensions } from './parts.js';
export { type SchemaOptions, schemaErrors } from './schema-errors.js';
export { type SchemaRules, schemaRules } from './schema-rules.js';
export { isStructural } from './structural-rules.js';
