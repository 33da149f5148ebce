/** Schemas of custom resources: validation of the schemas themselves, and their compilation. */
export { compileSchema, type StructuralSchema } from './compile-schema.js';
export type { EnvelopeSchemas, OpenApiVersion } from './openapi.js';
export { cellText } from './paths/cell-text.js';
export { columnErrors, fieldAt, readFieldPath, scaleErrors } from './paths/definition-paths.js';
export { hasDefaults, hasExtensions } from './rules/parts.js';
export { schemaRules } from './rules/rule-selection.js';
export { type SchemaOptions, schemaErrors } from './rules/schema-errors.js';
export type { SchemaRules } from './rules/schema-rules.js';
export { isStructural } from './rules/structural-rules.js';
