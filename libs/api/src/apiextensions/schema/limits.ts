/** Named maximums of custom resource schemas. */

/**
 * Steps of checking one object: one a value and schema met, an alternative tried and a mistake found, and
 * the characters of a text times the size of its pattern. Higher lets one object hold the event loop for
 * longer; lower refuses large objects of large schemas.
 */
export const checkStepCountMax = 5_000_000;

/** Mistakes of one object that are looked for before checking stops. Lower names fewer of many. */
export const issueCountMax = 1_000;

/**
 * Characters of the mistakes of one object, beyond which no more are looked for: they may repeat long
 * patterns and enums. Lower names fewer of many.
 */
export const issueTextLengthMax = 256 * 1024;

/**
 * Characters of a JSON path. Higher lets a printer column cost more to read and find; lower refuses odd but
 * valid ones.
 */
export const jsonPathLengthMax = 4 * 1024;

/** Values that one JSON path may look at. Higher lets a cell of a table take more memory and time. */
export const jsonPathStepCountMax = 100_000;
