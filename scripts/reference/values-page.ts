/** The page on values with their own JSON encoding, and on name formats. */
import {
  checkDns1035Label,
  checkDns1123Label,
  checkDns1123Subdomain,
  checkLabelValue,
  checkQualifiedName,
  type Encoding,
} from '@orch/apimachinery';
import { code } from './markdown.js';

export const valuesPage = 'types/values.md';

/** Headings of the page, which links refer to. */
export const valueHeadings: Readonly<Record<Encoding, string>> = {
  time: 'Time',
  microTime: 'Time with microseconds',
  duration: 'Duration',
  quantity: 'Quantity',
  intOrString: 'Number or text',
  rawExtension: 'Any object',
  unknownEnvelope: 'Any object',
  fieldsV1: 'Set of fields',
  anyJson: 'Any value',
  stringList: 'List of texts',
  schemaOrArray: 'Schema or list of schemas',
  schemaOrBool: 'Schema or boolean',
  schemaOrStringArray: 'Schema or list of texts',
};

const valueTexts: Readonly<Record<string, string>> = {
  Time: 'Text in RFC 3339 with whole seconds, in UTC: `2026-01-02T03:04:05Z`.',
  'Time with microseconds': 'Text in RFC 3339 with microseconds: `2026-01-02T03:04:05.000000Z`.',
  Duration: 'Text of numbers with units, such as `1h2m3s` or `500ms`.',
  Quantity:
    'A number with an optional suffix, as text or as a number: `100m` is a tenth, `1k` a thousand, `1Ki` is 1024, `1e3` a thousand. Responses contain the canonical, shortest form.',
  'Number or text': 'A whole number, or a text such as the percentage `25%` or the name of a port.',
  'Any object': 'A JSON object, stored unchanged.',
  'Set of fields':
    'Field names as nested objects, `{"f:spec":{"f:replicas":{}}}`. Maintained by the server.',
  'Any value': 'Any JSON value.',
  'List of texts': 'A list of strings.',
  'Schema or list of schemas': 'A schema, or a list of them.',
  'Schema or boolean': 'A schema, or `true` or `false`.',
  'Schema or list of texts': 'A schema, or a list of strings.',
};

/** Formats with a section of their own, with the pattern from the message of their check. */
const formats: readonly (readonly [string, string, (text: string) => readonly string[]])[] = [
  ['DNS label', 'At most 63 characters.', checkDns1123Label],
  ['DNS subdomain', 'Labels joined by dots, at most 253 characters.', checkDns1123Subdomain],
  ['DNS label that begins with a letter', 'At most 63 characters.', checkDns1035Label],
  ['Label value', 'At most 63 characters.', checkLabelValue],
  [
    'Qualified name',
    'Keys of labels and annotations: at most 63 characters, after an optional DNS subdomain and `/`.',
    checkQualifiedName,
  ],
];

function patternsOf(messages: readonly string[]): string[] {
  return messages.flatMap((message) => {
    const expression = /regex used for validation is '(.*)'\)$/.exec(message)?.[1];
    return expression === undefined ? [] : [expression];
  });
}

/** The heading of a format, by the pattern in error messages. */
export const formatHeadings: ReadonlyMap<string, string> = new Map(
  formats.flatMap(([heading, , check]) => patternsOf(check('!')).map((found) => [found, heading])),
);

export function valuesPageText(): string {
  const values = Object.entries(valueTexts).map(([heading, text]) => `## ${heading}\n\n${text}\n`);
  const names = formats.map(([heading, text, check]) => {
    const [expression] = patternsOf(check('!'));
    return `## ${heading}\n\n${text} Matches ${code(expression ?? '')}.\n`;
  });
  return `# Values and names\n\nValues with their own JSON encoding, and the name formats that rules refer to.\n\n${[...values, ...names].join('\n')}`;
}
