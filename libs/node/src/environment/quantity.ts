/** Resource quantities as numbers, for what is reported to containers and of the node. */
import { Quantity } from '@orch/apimachinery';

/** The value of `500m`, `64Mi`, `1e3`, `2`. Throws for what is no quantity. */
export function quantityValue(text: string): number {
  return Quantity.parse(text).toNumber();
}

/** How many of `divisor` a quantity holds, rounded up; floating-point dust does not count. */
export function quotient(value: number, divisor: number): number {
  const exact = value / divisor;
  const nearest = Math.round(exact);
  return Math.abs(exact - nearest) < 1e-6 ? nearest : Math.ceil(exact);
}
