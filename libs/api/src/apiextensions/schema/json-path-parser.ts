/**
 * Reads JSON paths in the dialect of clients: `.a.b`, `['a']`, `[0]`, `[1:3]`, `[*]`, `..a`, `[0,2]` and
 * `[?(@.a=="b")]`. In a name, a backslash keeps what follows from ending it.
 */

import {
  type ComparisonOperator,
  comparisonOperators,
  JsonPathError,
  type Step,
  type Steps,
} from './json-path-steps.js';
import { jsonPathLengthMax } from './limits.js';

/** Throws JsonPathError. */
export function parseJsonPath(text: string): Steps {
  if (text.length > jsonPathLengthMax) throw new JsonPathError('path is too long');
  return new Parser(text).parse();
}

class Parser {
  private position = 0;
  private readonly steps: Step[] = [];

  constructor(private readonly text: string) {}

  parse(): Steps {
    while (this.position < this.text.length) this.step();
    return this.steps;
  }

  private step(): void {
    const { text, position } = this;
    const character = text[position]!;
    if (text.startsWith('[?(', position)) this.filter();
    else if (text.startsWith('..', position)) this.descent();
    else if (character === '[') this.brackets();
    else if (character === '.') {
      this.position += 1;
      this.field();
    } else if (character === '"' || character === "'") this.quoted(character);
    else if (character === ' ' || character === '@' || character === '$') this.position += 1;
    else if (/[-+\d]/.test(character)) this.number();
    else this.word();
  }

  private descent(): void {
    if (this.steps.at(-1)?.kind === 'descend') {
      throw new JsonPathError('invalid multiple recursive descent');
    }
    this.position += 2;
    this.steps.push({ kind: 'descend' });
    if (/[\p{L}\p{Nd}_]/u.test(this.text[this.position] ?? '')) this.field();
  }

  private field(): void {
    const name = this.take(/(?:\\.|[^\\ \t\r\n.,[\]$@{}])*\\?/sy);
    this.steps.push(
      name === '*' ? { kind: 'every' } : { kind: 'field', name: name.replaceAll('\\', '') },
    );
  }

  private take(expression: RegExp): string {
    expression.lastIndex = this.position;
    const taken = expression.exec(this.text)?.[0] ?? '';
    this.position += taken.length;
    return taken;
  }

  private quoted(quote: string): void {
    const taken = this.take(quote === '"' ? /"(?:\\.|[^"\\\n])*"/y : /'(?:\\.|[^'\\\n])*'/y);
    if (taken === '') throw new JsonPathError('unterminated quoted string');
    const value = taken.slice(1, -1).replace(/\\(.)/g, (_, character: string) => {
      return escapes[character] ?? character;
    });
    this.steps.push({ kind: 'literal', value });
  }

  private number(): void {
    const taken = this.take(/[-+]?[\d.]*/y);
    const value = Number(taken);
    if (!/\d/.test(taken) || Number.isNaN(value)) {
      throw new JsonPathError(`cannot parse number ${taken}`);
    }
    this.steps.push({ kind: 'literal', value });
  }

  private word(): void {
    const taken = this.take(/[\p{L}_][^ \t\r\n.,[\]$@{}]*/uy);
    if (taken === 'true' || taken === 'false') {
      this.steps.push({ kind: 'literal', value: taken === 'true' });
    } else if (taken === '') {
      throw new JsonPathError(`unrecognized character in action: ${this.text[this.position]}`);
    } else throw new JsonPathError(`unrecognized identifier ${taken}`);
  }

  private brackets(): void {
    const end = this.text.indexOf(']', this.position);
    if (end < 0) throw new JsonPathError('unterminated array');
    const inner = this.text.slice(this.position + 1, end);
    this.position = end + 1;
    const parts = inner.split(',');
    if (parts.length === 1) this.steps.push(...selection(inner));
    else this.steps.push({ kind: 'union', paths: parts.map((part) => selection(part.trim())) });
  }

  private filter(): void {
    const start = this.position + 3;
    const end = filterEnd(this.text, start);
    this.position = end + 2;
    const inner = this.text.slice(start, end);
    const [, left, operator = '', right = ''] = /^([^!<>=]+)([!<>=]+)(.+)$/.exec(inner) ?? [];
    if (left === undefined) {
      this.steps.push({ kind: 'exists', path: new Parser(inner).parse() });
      return;
    }
    if (!comparisonOperators.has(operator)) {
      throw new JsonPathError(`unrecognized filter operator ${operator}`);
    }
    this.steps.push({
      kind: 'compare',
      left: new Parser(left).parse(),
      operator: operator as ComparisonOperator,
      right: new Parser(right).parse(),
    });
  }
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/** Of the closing parenthesis: the first one outside of a quoted text. */
function filterEnd(text: string, start: number): number {
  let quote: string | undefined;
  for (let index = start; index < text.length; index += 1) {
    const character = text[index]!;
    if (quote !== undefined) {
      if (character === quote && text[index - 1] !== '\\') quote = undefined;
    } else if (character === '"' || character === "'") quote = character;
    else if (character === ')') {
      if (text[index + 1] !== ']') throw new JsonPathError('unclosed array expect ]');
      return index;
    }
  }
  throw new JsonPathError('unterminated filter');
}

/** What stands between brackets: a name, an index or a range. */
function selection(text: string): Steps {
  if (text === '*') return [{ kind: 'slice', from: 0, to: undefined, stride: 1 }];
  const name = /^'([^']*)'$/.exec(text)?.[1];
  if (name !== undefined) return new Parser(`.${name}`).parse();
  const [, from, to, stride] = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/.exec(text) ?? [];
  if (from === undefined || from === '-') throw new JsonPathError(`invalid array index ${text}`);
  if (to === undefined && from === '') throw new JsonPathError(`invalid array index ${text}`);
  const first = from === '' ? 0 : wholeNumber(from);
  const next = first === -1 ? undefined : first + 1;
  const step: Step = {
    kind: 'slice',
    from: first,
    to: to === undefined ? next : to === ':' ? undefined : wholeNumber(to.slice(1)),
    stride: stride === undefined || stride === ':' ? 1 : wholeNumber(stride.slice(1)),
  };
  if (step.stride < 1) throw new JsonPathError('step must be > 0');
  return [step];
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (text === '-' || !Number.isSafeInteger(value)) {
    throw new JsonPathError(`array index ${text} is not a number`);
  }
  return value;
}
