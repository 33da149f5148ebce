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
 * Characters that the `copy` operations of one JSON patch may add up to. Higher lets a short patch grow
 * a large document; lower refuses patches that duplicate large parts.
 */
export const jsonPatchCopiedLengthMax = 3 * 1024 * 1024;

/**
 * Characters of a selector. Higher lets one request cost more to parse and match; lower refuses what
 * fits into a request line.
 */
export const selectorLengthMax = 64 * 1024;

/** Characters of a quantity. Higher lets big-number arithmetic cost more; lower refuses odd but valid amounts. */
export const quantityLengthMax = 256;

/** Largest power of ten in a quantity such as `1e3`. Higher lets a short text become a huge number. */
export const quantityExponentMax = 128;

/**
 * Depth of nesting in decoded objects. Higher risks the stack on hostile input; lower refuses deeply
 * nested schemas of custom resources.
 */
export const objectDepthMax = 256;

/**
 * Bytes of one object or list in its protobuf form. Higher lets one request take more memory; lower
 * refuses long lists that are asked for in one piece.
 */
export const protobufBytesMax = 512 * 1024 * 1024;

/** Scratch memory kept between two protobuf encodings. Lower allocates more often; higher holds more for good. */
export const protobufScratchBytesKept = 1024 * 1024;

/**
 * Errors of one object that its refusal names. Higher lets a short request have a very long answer; lower
 * makes users with many mistakes try more often.
 */
export const fieldErrorsShownMax = 1_000;

/** Mistakes in an applied configuration that its refusal names. Higher lets a short request have a long answer. */
export const typedErrorsMax = 100;

/**
 * Managers of plain writes that an object remembers one by one; the oldest beyond are kept together. Part
 * of the interface.
 */
export const updateManagersMax = 10;

/** Bytes of a manager's name. Part of the interface. */
export const managerNameBytesMax = 128;
