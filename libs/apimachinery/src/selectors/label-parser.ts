/**
 * Parses the query form of label selectors: `a=b,c in (d,e),!f,g>1`. The words `in` and `notin` are
 * identifiers where a key or value is expected.
 */
import { selectorLengthMax } from '../limits.js';
import { type Token, type TokenKind, tokenize } from './lexer.js';
import {
  checkLabelKey,
  makeRequirement,
  type Requirement,
  SelectorError,
  type SelectorOperator,
} from './requirement.js';

/** The requirements, sorted by key. Throws SelectorError. */
export function parseRequirements(text: string): Requirement[] {
  if (text.length > selectorLengthMax) {
    throw new SelectorError(`selector is too long: must have at most ${selectorLengthMax} bytes`);
  }
  const requirements = new Parser(tokenize(text)).parse();
  return requirements.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

const end: Token = { kind: 'end', text: '' };

class Parser {
  private position = 0;

  constructor(private readonly tokens: readonly Token[]) {}

  parse(): Requirement[] {
    const requirements: Requirement[] = [];
    for (;;) {
      const next = this.peek();
      if (next.kind === 'end') return requirements;
      if (next.kind !== 'identifier' && next.kind !== '!') {
        throw new SelectorError(
          `found '${next.text}', expected: !, identifier, or 'end of string'`,
        );
      }
      requirements.push(this.requirement());
      const separator = this.take();
      if (separator.kind === 'end') return requirements;
      if (separator.kind !== ',') {
        throw new SelectorError(`found '${separator.text}', expected: ',' or 'end of string'`);
      }
      const after = this.peek();
      if (after.kind !== 'identifier' && after.kind !== '!') {
        throw new SelectorError(`found '${after.text}', expected: identifier after ','`);
      }
    }
  }

  private requirement(): Requirement {
    try {
      return this.readRequirement();
    } catch (error) {
      if (error instanceof SelectorError) {
        throw new SelectorError(`unable to parse requirement: ${error.message}`);
      }
      throw error;
    }
  }

  private readRequirement(): Requirement {
    const negated = this.peek().kind === '!';
    if (negated) this.take();
    const key = this.take();
    if (key.kind !== 'identifier') throw expected(key, 'identifier');
    checkLabelKey(key.text);
    if (negated) return makeRequirement(key.text, '!', []);
    const next = this.peek().kind;
    if (next === 'end' || next === ',') return makeRequirement(key.text, 'exists', []);
    const operator = this.operator();
    const values = operator === 'in' || operator === 'notin' ? this.list() : this.exactValue();
    return makeRequirement(key.text, operator, values);
  }

  private operator(): SelectorOperator {
    const token = this.tokens[this.position] ?? end;
    this.position += 1;
    switch (token.kind) {
      case '=':
      case '==':
      case '!=':
      case 'in':
      case 'notin':
        return token.kind;
      case '>':
        return 'gt';
      case '<':
        return 'lt';
      default:
        throw new SelectorError(`found '${token.text}', expected: '=', '!=', '==', 'in', notin'`);
    }
  }

  private list(): string[] {
    const open = this.take();
    if (open.kind !== '(') throw new SelectorError(`found '${open.text}' expected: '('`);
    const first = this.peek();
    if (first.kind === ')') {
      this.take();
      return [];
    }
    if (first.kind !== 'identifier' && first.kind !== ',') {
      throw expected(first, "',', ')' or identifier");
    }
    const values = this.listItems();
    const close = this.take();
    if (close.kind !== ')') throw expected(close, "')'");
    return values;
  }

  /** `a,b`; nothing between commas or at an end is the empty text. */
  private listItems(): string[] {
    const values: string[] = [];
    for (;;) {
      const token = this.take();
      if (token.kind === 'identifier') {
        values.push(token.text);
        const next = this.peek();
        if (next.kind === ')') return values;
        if (next.kind !== ',') throw expected(next, "',' or ')'");
      } else if (token.kind === ',') {
        if (values.length === 0) values.push('');
        const next = this.peek().kind;
        if (next === ')') {
          values.push('');
          return values;
        }
        if (next === ',') {
          this.take();
          values.push('');
        }
      } else {
        throw expected(token, "',', or identifier");
      }
    }
  }

  private exactValue(): string[] {
    const next = this.peek().kind;
    if (next === 'end' || next === ',') return [''];
    const value = this.take();
    if (value.kind !== 'identifier') throw expected(value, 'identifier');
    return [value.text];
  }

  private peek(): Token {
    return asValue(this.tokens[this.position] ?? end);
  }

  private take(): Token {
    const token = this.peek();
    this.position += 1;
    return token;
  }
}

function asValue(token: Token): Token {
  const kind: TokenKind = token.kind === 'in' || token.kind === 'notin' ? 'identifier' : token.kind;
  return { kind, text: token.text };
}

function expected(found: Token, what: string): SelectorError {
  return new SelectorError(`found '${found.text}', expected: ${what}`);
}
