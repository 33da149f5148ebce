/** Values that are a number or a percentage: `3`, `"25%"`. */
import { checkPercent } from '../names/formats.js';

export type IntOrString = number | string;

/** The percentage of a text such as `25%`; undefined when it is not one. */
export function percentOf(value: IntOrString | undefined): number | undefined {
  if (typeof value !== 'string' || checkPercent(value).length > 0) return undefined;
  return Number(value.slice(0, -1));
}

/**
 * Resolves the value against `total`; rounds percentages up or down. Throws RangeError for a text
 * that is not a percentage.
 */
export function scaledValue(value: IntOrString, total: number, round: 'up' | 'down'): number {
  if (typeof value === 'number') return value;
  const percent = percentOf(value);
  if (percent === undefined) {
    throw new RangeError(`invalid value for IntOrString: invalid type: string is not a percentage`);
  }
  const scaled = (percent * total) / 100;
  return round === 'up' ? Math.ceil(scaled) : Math.floor(scaled);
}
