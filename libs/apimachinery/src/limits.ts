/** Named maximums of this lib. */

/**
 * Operations in one JSON patch. Higher lets one request hold the event loop for longer; lower refuses
 * patches that clients of this interface may send.
 */
export const jsonPatchOperationCountMax = 10_000;

/** Keys and values of all annotations of one object. Part of the interface. */
export const annotationBytesMax = 256 * 1024;

/**
 * Depth of nesting in patches. Higher risks the stack on hostile input; lower may refuse real schemas
 * of custom resources.
 */
export const patchDepthMax = 1_000;

/**
 * Characters of a selector. Higher lets one request cost more to parse and match; lower refuses what
 * fits into a request line.
 */
export const selectorLengthMax = 64 * 1024;
