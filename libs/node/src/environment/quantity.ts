/** Resource quantities as numbers, for what is reported to containers and of the node. */

const suffixes: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** The value of `500m`, `64Mi`, `1e3`, `2`. Throws for what is no quantity. */
export function quantityValue(text: string): number {
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:[eE]([+-]?\d+)|([a-zA-Z]{0,2}))$/.exec(text);
  const factor = match?.[2] === undefined ? suffixes[match?.[3] ?? ''] : 10 ** Number(match[2]);
  if (!match || factor === undefined) throw new Error(`"${text}" is not a quantity`);
  return Number(match[1]) * factor;
}

/** How many of `divisor` a quantity holds, rounded up; floating-point dust does not count. */
export function quotient(value: number, divisor: number): number {
  const exact = value / divisor;
  const nearest = Math.round(exact);
  return Math.abs(exact - nearest) < 1e-6 ? nearest : Math.ceil(exact);
}
