/** Named maxima of the OpenAPI documents. */

/** Size of a document. Higher: more memory. Lower: fewer custom resources fit. */
export const documentBytesMax = 64 * 1024 * 1024;
/** Nesting of a schema of another server; deeper parts are left out. Higher: deeper recursion. */
export const foreignSchemaDepthMax = 64;
