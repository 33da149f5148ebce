/**
 * Field selectors of queries: `metadata.name=a,status.phase!=Running`. Values escape `\`, `,` and
 * `=`.
 */
import { selectorLengthMax } from '../limits.js';
import { SelectorError } from './requirement.js';

export interface FieldRequirement {
  readonly field: string;
  readonly negated: boolean;
  readonly value: string;
}

export interface FieldSelector {
  readonly requirements: readonly FieldRequirement[];
  readonly everything: boolean;
  /** `read` returns the value of a field, empty if the object has none. */
  matches(read: (field: string) => string): boolean;
  /** The value that the selector requires for the field, if any. */
  exactValue(field: string): string | undefined;
  toString(): string;
}

function fromRequirements(requirements: readonly FieldRequirement[]): FieldSelector {
  const text = requirements
    .map(({ field, negated, value }) => `${field}${negated ? '!=' : '='}${escapeValue(value)}`)
    .join(',');
  return {
    requirements,
    everything: requirements.length === 0,
    matches: (read) =>
      requirements.every(({ field, negated, value }) => (read(field) === value) !== negated),
    exactValue: (field) =>
      requirements.find((requirement) => requirement.field === field && !requirement.negated)
        ?.value,
    toString: () => text,
  };
}

export const everyFieldSelector: FieldSelector = fromRequirements([]);

/** Throws SelectorError. Empty selects everything. */
export function parseFieldSelector(text: string): FieldSelector {
  if (text === '') return everyFieldSelector;
  if (text.length > selectorLengthMax) {
    throw new SelectorError(`selector is too long: must have at most ${selectorLengthMax} bytes`);
  }
  const terms = splitTerms(text).sort();
  return fromRequirements(terms.filter((term) => term !== '').map((term) => parseTerm(term, text)));
}

/** Throws SelectorError for the first field that the resource cannot be selected by. */
export function checkSelectableFields(
  selector: FieldSelector,
  isSelectable: (field: string) => boolean,
  refusal: (field: string) => string,
): void {
  for (const { field } of selector.requirements) {
    if (!isSelectable(field)) throw new SelectorError(refusal(field));
  }
}

/** The message for resources that can be selected by name and namespace only. */
export function unknownFieldMessage(field: string): string {
  return `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`;
}

/** The message for resources with selectable fields of their own. */
export function unsupportedFieldMessage(field: string): string {
  return `field label not supported: ${field}`;
}

function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let term = '';
  let escaped = false;
  for (const character of text) {
    if (!escaped && character === ',') {
      terms.push(term);
      term = '';
      continue;
    }
    term += character;
    escaped = !escaped && character === '\\';
  }
  terms.push(term);
  return terms;
}

function parseTerm(term: string, whole: string): FieldRequirement {
  const match = /^([^=!]*(?:!(?!=)[^=!]*)*)(!=|==|=)([\s\S]*)$/.exec(term);
  if (!match) {
    throw new SelectorError(`invalid selector: '${whole}'; can't understand '${term}'`);
  }
  const [, field = '', operator, value = ''] = match;
  return { field, negated: operator === '!=', value: unescapeValue(value) };
}

function unescapeValue(value: string): string {
  let text = '';
  for (let index = 0; index < value.length; index += 1) {
    const character = value.charAt(index);
    if (character === ',' || character === '=') {
      throw new SelectorError(`invalid field selector: unescaped character in value: ${character}`);
    }
    if (character !== '\\') {
      text += character;
      continue;
    }
    index += 1;
    const escaped = value.charAt(index);
    if (escaped === '' || !'\\,='.includes(escaped)) {
      throw new SelectorError(`invalid field selector: invalid escape sequence: \\${escaped}`);
    }
    text += escaped;
  }
  return text;
}

function escapeValue(value: string): string {
  return value.replace(/[\\,=]/g, (character) => `\\${character}`);
}
