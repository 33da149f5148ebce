/** Named limits of custom resource schemas. */

/**
 * Maximum steps of validating one object: one per visited value and schema, per alternative and per
 * issue, and the characters of a text times the size of its pattern. Higher: one object can block
 * the event loop longer. Lower: large objects with large schemas are rejected.
 */
export const checkStepCountMax = 5_000_000;

/**
 * Maximum issues of one object before validation stops. Higher: longer responses. Lower: users with
 * many errors need more attempts.
 */
export const issueCountMax = 1_000;

/**
 * Maximum characters of all issues of one object, because they may repeat long patterns and enums.
 * Higher: longer responses. Lower: fewer issues are reported.
 */
export const issueTextLengthMax = 256 * 1024;
