/** Texts that are hard to decode. */
import fc from 'fast-check';

/** Names of inherited members, and names with a meaning in patches. */
export const inheritedNames = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'hasOwnProperty',
  '__defineGetter__',
] as const;

const odd = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  'x\udc00y',
  '\ufeff',
  '\u202e',
  '-',
  '--',
  '.',
  '..',
  '../../etc/passwd',
  '/',
  '%',
  '%00',
  '%2f',
  'a/b',
  'a.b',
  '0',
  '-1',
  '00',
  '1e9',
  '0x10',
  '9223372036854775807',
  '9223372036854775808',
  '18446744073709551616',
  'NaN',
  'Infinity',
  'null',
  'true',
  '\r\n',
  'a\r\nb: c',
] as const;

/** Longer than names, labels, selectors and managers may be. */
const lengthMax = 70_000;

const piece = fc.oneof(
  fc.constantFrom<string>(...odd, ...inheritedNames),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
);

export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 12, arbitrary: piece },
  {
    weight: 1,
    arbitrary: fc
      .tuple(piece, fc.nat(lengthMax))
      .map(([text, length]) => (text === '' ? '' : text.repeat(1 + length / text.length))),
  },
);

/** Tokens of a small language with malformed ones among them, joined. */
export function sentence(words: readonly string[], wordCountMax = 12): fc.Arbitrary<string> {
  const word = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...words) },
    { weight: 1, arbitrary: hostileText },
  );
  return fc.array(word, { maxLength: wordCountMax }).map((parts) => parts.join(''));
}
