/**
 * Values in error messages: objects and lists in upstream notation, numbers with an exponent if
 * that is shorter.
 */
import { Literal, quote } from '@orch/apimachinery';

/** The value as an error shows it. */
export function reportedValue(value: unknown): unknown {
  if (typeof value === 'number') return new Literal(numberText(value));
  return typeof value === 'object' && value !== null ? new Literal(literalText(value)) : value;
}

export function numberText(value: number): string {
  const size = Math.abs(value);
  if (size === 0 || (size >= 1e-4 && size < 1e21)) return String(value);
  return value.toExponential().replace(/([+-])(\d)$/, '$10$2');
}

function literalText(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)';
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number') return numberText(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(literalText).join(', ')}}`;
  if (typeof value !== 'object') return String(value);
  const members = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, item]) => `${quote(name)}:${literalText(item)}`);
  return `map[string]interface {}{${members.join(', ')}}`;
}
