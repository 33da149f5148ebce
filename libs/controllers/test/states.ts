/**
 * Number of random states for the properties of a planner: `ORCH_STATES=100000` for the long form.
 */
export const stateCount = Number(process.env.ORCH_STATES ?? 3_000);

/** A property over many states takes longer than other tests. */
export const stateTimeoutMs = 20_000 + stateCount * 5;
