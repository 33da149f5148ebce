/**
 * The order of `get --sort-by`: numbers and quantities by amount, other texts in natural order
 * (`web-2` before `web-10`), objects without a value first.
 */
import { Quantity, QuantityError } from '@orch/apimachinery';
import { CliError } from '../command-line/errors.js';
import { fieldPathText, parsePath } from '../output/json-path.js';

/**
 * Sorts the items by the first value at a path of their objects. Throws `UsageError` for an invalid
 * path, `CliError` if no object has a value there or the values have no order.
 */
export function sortedBy<T>(
  items: readonly T[],
  path: string,
  objectOf: (item: T) => unknown,
): T[] {
  const field = fieldPathText(path);
  const parsed = parsePath(field);
  const keyed = items.map((item) => ({ item, value: parsed.find(objectOf(item))[0] }));
  if (items.length > 0 && keyed.every(({ value }) => value === undefined)) {
    throw new CliError(
      `couldn't find any field with path ${JSON.stringify(field)} in the list of objects`,
    );
  }
  return keyed
    .sort((left, right) => compareValues(left.value, right.value, field))
    .map(({ item }) => item);
}

function compareValues(left: unknown, right: unknown, field: string): number {
  if (left === undefined || right === undefined) {
    return Number(left !== undefined) - Number(right !== undefined);
  }
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  if (typeof left === 'string' && typeof right === 'string') return compareTexts(left, right);
  const types = [...new Set([typeName(left), typeName(right)])].join(', ');
  throw new CliError(`Field ${field} is an unsortable type: ${types}`);
}

function typeName(value: unknown): string {
  return Array.isArray(value) ? 'list' : typeof value === 'object' ? 'map' : typeof value;
}

function compareTexts(left: string, right: string): number {
  const leftQuantity = quantityOf(left);
  const rightQuantity = leftQuantity && quantityOf(right);
  if (leftQuantity && rightQuantity) return leftQuantity.compare(rightQuantity);
  return compareNaturally(left, right);
}

function quantityOf(text: string): Quantity | undefined {
  try {
    return Quantity.parse(text);
  } catch (error) {
    if (error instanceof QuantityError) return undefined;
    throw error;
  }
}

/** Digits in a text count as a number, and precede other characters. */
function compareNaturally(left: string, right: string): number {
  const [leftParts, rightParts] = [left, right].map((text) => text.match(/[0-9]+|[^0-9]+/g) ?? []);
  for (const [index, part] of leftParts!.entries()) {
    const order = compareParts(part, rightParts![index] ?? '');
    if (order !== 0) return order;
  }
  return leftParts!.length - rightParts!.length;
}

function compareParts(left: string, right: string): number {
  const [leftIsNumber, rightIsNumber] = [/^[0-9]/.test(left), /^[0-9]/.test(right)];
  if (right === '' || leftIsNumber !== rightIsNumber) return right !== '' && leftIsNumber ? -1 : 1;
  if (!leftIsNumber) return compareCharacters(left, right);
  const [leftDigits, rightDigits] = [left.replace(/^0+/, ''), right.replace(/^0+/, '')];
  return (
    leftDigits.length - rightDigits.length ||
    compareCharacters(leftDigits, rightDigits) ||
    left.length - right.length
  );
}

function compareCharacters(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
