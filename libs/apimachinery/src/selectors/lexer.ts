/**
 * Tokens of the query form of label selectors: symbols, the words `in` and `notin`, identifiers.
 */

export type TokenKind = 'end' | 'identifier' | 'in' | 'notin' | Symbol;

const symbols = ['!', '!=', '(', ')', ',', '=', '==', '>', '<'] as const;
type Symbol = (typeof symbols)[number];

export interface Token {
  readonly kind: TokenKind;
  /** The token as written; empty at the end. */
  readonly text: string;
}

const symbolCharacters = '!(),=<>';

/** All tokens, with one `end` after the last. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let position = 0;
  while (position < text.length) {
    const character = text.charAt(position);
    if (/\s/.test(character)) {
      position += 1;
      continue;
    }
    const token = symbolCharacters.includes(character)
      ? symbolAt(text, position)
      : identifierAt(text, position);
    tokens.push(token);
    position += token.text.length;
  }
  tokens.push({ kind: 'end', text: '' });
  return tokens;
}

function symbolAt(text: string, position: number): Token {
  const two = symbols.find((symbol) => symbol === text.slice(position, position + 2));
  const singleSymbol = symbols.find((symbol) => symbol === text.charAt(position));
  const kind = two ?? singleSymbol ?? '=';
  return { kind, text: kind };
}

function identifierAt(text: string, position: number): Token {
  let end = position;
  while (
    end < text.length &&
    !/\s/.test(text.charAt(end)) &&
    !symbolCharacters.includes(text.charAt(end))
  ) {
    end += 1;
  }
  const word = text.slice(position, end);
  return { kind: word === 'in' || word === 'notin' ? word : 'identifier', text: word };
}
