/** Resource amounts by name, as quotas count them. */
import { Quantity } from '../quantity/quantity.js';

export type Amounts = ReadonlyMap<string, Quantity>;
export type ResourceList = Readonly<Record<string, string>>;

export const unitAmount = Quantity.of(1);

/** Throws QuantityError. */
export function amountsOf(list: ResourceList | undefined): Map<string, Quantity> {
  return new Map(
    Object.entries(list ?? {}).map(([name, text]) => [name, Quantity.parse(text)] as const),
  );
}

export function resourceListOf(amounts: Amounts): Record<string, string> {
  return Object.fromEntries([...amounts].map(([name, amount]) => [name, amount.toString()]));
}

/** The sum by name; a missing name counts as zero. */
export function addAmounts(a: Amounts, b: Amounts): Map<string, Quantity> {
  const sum = new Map(a);
  for (const [name, amount] of b) sum.set(name, (sum.get(name) ?? Quantity.zero).add(amount));
  return sum;
}

/** The difference by name; what `a` does not name is not subtracted from. */
export function subtractAmounts(a: Amounts, b: Amounts): Map<string, Quantity> {
  return new Map(
    [...a].map(([name, amount]) => [name, amount.subtract(b.get(name) ?? Quantity.zero)] as const),
  );
}

/** The maximum by name. */
export function largerAmounts(a: Amounts, b: Amounts): Map<string, Quantity> {
  const larger = new Map(a);
  for (const [name, amount] of b) {
    const held = larger.get(name);
    if (!held || amount.compare(held) > 0) larger.set(name, amount);
  }
  return larger;
}

export function pickAmounts(amounts: Amounts, names: readonly string[]): Map<string, Quantity> {
  return new Map([...amounts].filter(([name]) => names.includes(name)));
}
