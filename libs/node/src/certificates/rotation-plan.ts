/** When a certificate is renewed. Pure. */

/** A certificate is renewed at a random moment between these shares of its lifetime. */
const shareMin = 0.7;
const shareMax = 0.9;

export interface Validity {
  /** Milliseconds since the epoch. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** Returns milliseconds since the epoch. @param random in [0, 1), so that nodes spread. */
export function renewalMs({ fromMs, toMs }: Validity, random: number): number {
  return fromMs + (toMs - fromMs) * (shareMin + (shareMax - shareMin) * random);
}
