/** Schemas of custom resources: what they may say, and what they do to objects. */
export { compileSchema, type StructuralSchema } from './compile-schema.js';
export type { EnvelopeSchemas, OpenApiVersion } from './openapi.js';
