/** Parsers of option values. Each throws a `UsageError` that names the flag. */
import { parseDuration, ValueError } from '@orch/component';
import { UsageError } from './errors.js';

/** A duration such as `30s`. A number without a unit means seconds. */
export function durationMs(flag: string, text: string): number {
  try {
    return parseDuration(/^-?\d+$/.test(text) ? `${text}s` : text);
  } catch (error) {
    if (error instanceof ValueError) throw new UsageError(`${flag}: ${error.message}`);
    throw error;
  }
}

/** A whole number, negative ones included. */
export function wholeNumber(flag: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value)) throw new UsageError(`${flag}: want a whole number, got ${text}`);
  return value;
}

/** A whole number from 0 up. */
export function count(flag: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) {
    throw new UsageError(`${flag}: want a whole number from 0 up, got ${text}`);
  }
  return value;
}
