/** Checks strings and numbers. Reports the first violation of a string, and all of a number. */
import { quote } from '@orch/apimachinery';
import type { JSONSchemaProps } from '@orch/types/apiextensions/v1';
import { numberText } from '../common/value-text.js';
import { formatCheck } from './formats.js';
import type { Outcome } from './outcome.js';
import { compilePattern } from './pattern.js';

type TextCheck = (text: string, name: string, outcome: Outcome) => void;
type NumberCheck = (value: number, name: string, outcome: Outcome) => void;

/** Cost of scanning a text. */
export const stepsPerCharacter = 1 / 16;

export function compileTextCheck(schema: JSONSchemaProps): TextCheck | undefined {
  const { minLength, maxLength, pattern, format } = schema;
  const matches = pattern ? compilePattern(pattern) : undefined;
  const hasFormat = format ? formatCheck(format) : undefined;
  const isBounded = minLength !== undefined || maxLength !== undefined;
  if (!isBounded && !matches && !hasFormat) return undefined;
  return (text, name, outcome) => {
    outcome.spend(text.length * stepsPerCharacter);
    const length = isBounded ? characterCount(text) : 0;
    if (maxLength !== undefined && length > maxLength) {
      outcome.invalid(name, text, `should be at most ${maxLength} chars long`);
    } else if (minLength !== undefined && length < minLength) {
      outcome.invalid(name, text, `should be at least ${minLength} chars long`);
    } else if (matches && !matches(text, outcome)) {
      outcome.invalid(name, text, `should match '${pattern}'`);
    }
    if (hasFormat && !hasFormat(text)) {
      outcome.invalid(name, text, `must be of type ${format}: ${quote(text)}`);
    }
  };
}

function characterCount(text: string): number {
  let count = text.length;
  for (let index = 1; index < text.length; index += 1) {
    const isLow = (text.charCodeAt(index) & 0xfc00) === 0xdc00;
    if (isLow && (text.charCodeAt(index - 1) & 0xfc00) === 0xd800) count -= 1;
  }
  return count;
}

export function compileNumberCheck(schema: JSONSchemaProps): NumberCheck {
  const { multipleOf, maximum, minimum, exclusiveMaximum, exclusiveMinimum } = schema;
  return (value, name, outcome) => {
    if (multipleOf !== undefined) checkMultiple(value, multipleOf, name, outcome);
    if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
      const bound = exclusiveMaximum ? 'less than' : 'less than or equal to';
      outcome.invalid(name, value, `should be ${bound} ${numberText(maximum)}`);
    }
    if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
      const bound = exclusiveMinimum ? 'greater than' : 'greater than or equal to';
      outcome.invalid(name, value, `should be ${bound} ${numberText(minimum)}`);
    }
    outcome.matchCount += 1;
  };
}

function checkMultiple(value: number, factor: number, name: string, outcome: Outcome): void {
  if (factor <= 0) {
    const message = `factor MultipleOf declared for ${name} must be positive: ${numberText(factor)}`;
    outcome.fault(name, factor, message);
    return;
  }
  const isExact = Number.isInteger(value) && Number.isInteger(factor);
  const isMultiple = isExact
    ? value % factor === 0
    : isNearlyWhole(factor < 1 ? (1 / factor) * value : value / factor);
  if (!isMultiple) outcome.invalid(name, value, `should be a multiple of ${numberText(factor)}`);
}

/** Tolerates rounding errors in quotients of fractions. */
function isNearlyWhole(quotient: number): boolean {
  if (!Number.isFinite(quotient)) return false;
  const whole = Math.round(quotient);
  return Math.abs(quotient - whole) <= 1e-9 * Math.max(Math.abs(quotient), Math.abs(whole));
}
