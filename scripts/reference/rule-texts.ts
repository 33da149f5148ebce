/** Shortens the texts of validation errors to rules. */
import { code, link, sentence } from './markdown.js';
import type { Rules } from './rules.js';
import { formatHeadings, valuesPage } from './values-page.js';

const shorter: readonly (readonly [RegExp, string])[] = [
  [/^must be greater than or equal to (\S+?)\.?$/, 'at least $1'],
  [/^must be greater than (\S+)$/, 'more than $1'],
  [/^must be less than or equal to (\S+)$/, 'at most $1'],
  [/^must be between (\S+) and (\S+), inclusive$/, '$1 to $2'],
  [/^must be no more than (\d+) characters$/, 'at most $1 characters'],
  [/^must have at most (\d+) (bytes|items)$/, 'at most $1 $2'],
];

const pattern = /regex used for validation is '(.*)'\)$/;

/** Messages that the page of the formats already contains. */
const lengthOfFormat = /^(at most|name part must be no more than) (63|253) characters$/;

/** `ofKind`: only one kind uses the type; for shared types, mutability depends on the kind. */
export function ruleTexts({ texts, isFixed }: Rules, from: string, ofKind: boolean): string[] {
  const said = [...new Set([...texts].map((text) => shortened(text, from)))];
  const hasFormat = said.some((text) => text.startsWith('['));
  const words = said
    .filter((text) => !hasFormat || !lengthOfFormat.test(text))
    .map((text) => sentence(capitalised(text)));
  return isFixed && ofKind ? [...words, 'Cannot be changed.'] : words;
}

/** Capitalises a text, unless it begins with a field name. */
function capitalised(text: string): string {
  return /^[a-z]+[A-Z]/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

function shortened(text: string, from: string): string {
  const expression = pattern.exec(text)?.[1];
  if (expression !== undefined) {
    const heading = formatHeadings.get(expression);
    return heading === undefined
      ? `must match ${code(expression)}`
      : link(heading, from, valuesPage, heading);
  }
  const bare = / match regex (\S+)$/.exec(text)?.[1];
  if (bare !== undefined) return text.replace(`regex ${bare}`, code(bare));
  for (const [long, short] of shorter) if (long.test(text)) return text.replace(long, short);
  return text;
}
