/** Named limits of this library. */

/**
 * Maximum number of operations in one JSON patch. Higher: one request can block the event loop
 * longer. Lower: patches that clients may send are rejected.
 */
export const jsonPatchOperationCountMax = 10_000;

/** Maximum size of all annotation keys and values of one object. Part of the interface. */
export const annotationBytesMax = 256 * 1024;

/**
 * Maximum nesting depth of patches. Higher: hostile input can exhaust the stack. Lower: patches to
 * schemas of custom resources may be rejected.
 */
export const patchDepthMax = 1_000;

/**
 * Maximum total characters that the `copy` operations of one JSON patch may add. Higher: a short
 * patch can create a larger document. Lower: patches that duplicate large values are rejected.
 */
export const jsonPatchCopiedLengthMax = 3 * 1024 * 1024;

/**
 * Maximum characters of a selector. Higher: a request can cost more to parse and match. Lower:
 * selectors that fit in a request line are rejected.
 */
export const selectorLengthMax = 64 * 1024;

/**
 * Maximum characters of a quantity. Higher: arithmetic on huge numbers costs more. Lower: unusual
 * but valid quantities are rejected.
 */
export const quantityLengthMax = 256;

/**
 * Maximum power of ten in a quantity such as `1e3`. Higher: a short text can become a larger
 * number. Lower: valid quantities are rejected.
 */
export const quantityExponentMax = 128;

/**
 * Maximum nesting depth of decoded objects. Higher: hostile input can exhaust the stack. Lower:
 * deeply nested schemas of custom resources are rejected.
 */
export const objectDepthMax = 256;

/**
 * Maximum size of one object or list encoded as protobuf. Higher: one request can use more memory.
 * Lower: long unpaginated lists are rejected.
 */
export const protobufBytesMax = 512 * 1024 * 1024;

/**
 * Maximum scratch memory retained between two protobuf encodings. Higher: more memory stays
 * allocated. Lower: large encodings allocate again each time.
 */
export const protobufScratchBytesMax = 1024 * 1024;

/**
 * Maximum number of field errors in one rejection. Higher: a short request can cause a longer
 * response. Lower: users with many errors need more attempts.
 */
export const reportedFieldErrorCountMax = 1_000;

/**
 * Maximum number of type errors reported for an applied configuration. Higher: a short request can
 * cause a longer response. Lower: users with many errors need more attempts.
 */
export const reportedTypeErrorCountMax = 100;

/**
 * Maximum number of update managers recorded separately per object; older ones are merged. Part of
 * the interface.
 */
export const updateManagerCountMax = 10;

/** Maximum size of a manager's name. Part of the interface. */
export const managerNameBytesMax = 128;

/**
 * Characters of a JSON path. Higher: a printer column may cost more to parse and evaluate. Lower:
 * unusual valid paths are rejected.
 */
export const jsonPathLengthMax = 4 * 1024;

/**
 * Values that the evaluation of one JSON path on a server may visit. Higher: one table cell may
 * take more memory and time. Lower: paths that match many values find nothing.
 */
export const jsonPathStepCountMax = 100_000;

/**
 * Bytes of a configuration file. Higher: a wrong path reads more at the start. Lower: long lists do
 * not fit.
 */
export const configurationBytesMax = 1 << 20;

/**
 * Merge keys and aliases in a configuration file. Higher: a small file can expand to more memory.
 * Lower: less can be shared in a file.
 */
export const configurationMergesMax = 100;
