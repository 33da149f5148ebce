/** Resource quantities as numbers. */
import { Quantity } from '@orch/apimachinery';

/** Returns the value of `500m`, `64Mi`, `1e3`, `2`. Throws for an invalid quantity. */
export function quantityValue(text: string): number {
  return Quantity.parse(text).toNumber();
}

/** Returns `value / divisor` rounded up, tolerating floating-point errors. */
export function quotient(value: number, divisor: number): number {
  const exact = value / divisor;
  const nearest = Math.round(exact);
  return Math.abs(exact - nearest) < 1e-6 ? nearest : Math.ceil(exact);
}
