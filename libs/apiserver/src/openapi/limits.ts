/** Named maximums of the OpenAPI documents. */

/** Work on a document before other work gets its turn. Higher delays requests; lower the document. */
export const sliceMs = 5;
/** Bytes of a document. Beyond it the document is refused instead of filling memory. */
export const documentBytesMax = 64 * 1024 * 1024;
