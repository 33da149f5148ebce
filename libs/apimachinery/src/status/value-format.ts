/**
 * Formats values in error messages in the wording of the interface: texts quoted, numbers and
 * booleans plain, lists and maps of texts as typed literals. Other values are compact JSON; their
 * exact form is not part of the interface.
 */

/** A value that is printed verbatim, for messages that no plain value can produce. */
export class Literal {
  constructor(readonly text: string) {}
}

const namedEscapes: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

/** The text in double quotes; control and other unprintable characters are escaped. */
export function quote(text: string): string {
  let quoted = '"';
  for (const character of text) quoted += namedEscapes[character] ?? escapeRune(character);
  return `${quoted}"`;
}

function escapeRune(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code >= 0x20 && code < 0x7f) return character;
  if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (/[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(character)) return character;
  return code > 0xffff
    ? `\\U${code.toString(16).padStart(8, '0')}`
    : `\\u${code.toString(16).padStart(4, '0')}`;
}

/** `[]string{"a", "b"}`. */
export function stringList(values: readonly string[] | undefined): Literal {
  if (values === undefined) return new Literal('[]string(nil)');
  return new Literal(`[]string{${values.map(quote).join(', ')}}`);
}

/** `map[string]string{"a":"b"}`, keys sorted; `map[string]string(nil)` when absent. */
export function stringMap(map: Readonly<Record<string, string>> | undefined): Literal {
  if (map === undefined) return new Literal('map[string]string(nil)');
  const entries = Object.keys(map)
    .sort()
    .map((key) => `${quote(key)}:${quote(map[key] ?? '')}`);
  return new Literal(`map[string]string{${entries.join(', ')}}`);
}

/** `type{Name:"a", Other:"b"}`: a message in upstream notation. */
export function structLiteral(
  type: string,
  fields: Readonly<Record<string, string | Literal>>,
): Literal {
  const members = Object.entries(fields).map(([name, value]) => `${name}:${formatValue(value)}`);
  return new Literal(`${type}{${members.join(', ')}}`);
}

/** The value as messages show it. Absent values print as `"null"`. */
export function formatValue(value: unknown): string {
  if (value === undefined || value === null) return '"null"';
  if (value instanceof Literal) return value.text;
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') {
    return String(value);
  }
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) {
    return stringList(value).text;
  }
  return JSON.stringify(value);
}
