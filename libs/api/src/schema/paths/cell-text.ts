/** Values of custom resources as the cells of a table. */
import { isJsonObject } from '@orch/apimachinery';
import { numberText } from '../common/value-text.js';

/** The text of a cell for a value that the JSON path of a printer column found. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (typeof value === 'number') return numberText(value);
  if (Array.isArray(value)) return `[${value.map(cellText).join(' ')}]`;
  if (!isJsonObject(value)) return String(value);
  const members = Object.keys(value)
    .sort()
    .map((name) => `${name}:${cellText(value[name])}`);
  return `map[${members.join(' ')}]`;
}
