/**
 * Parses JSON paths: `.a.b`, `['a']`, `[0]`, `[1:3]`, `[*]`, `..a`, `[0,2]` and `[?(@.a=="b")]`. In
 * a name, a backslash escapes the next character.
 *
 * The strict syntax is that of printer columns, including the dots of a name in brackets, which
 * separate fields. The relaxed syntax is that of command lines: braces around the path and the
 * first dot are optional, a name in brackets is one field, and a filter may compare with a bare
 * word.
 */
import { jsonPathLengthMax } from '../limits.js';
import { isComparisonOperator, JsonPathError, type Step, type Steps } from './json-path-steps.js';

export type JsonPathSyntax = 'strict' | 'relaxed';

/** The steps of a path. Throws JsonPathError. */
export function parseJsonPath(text: string, syntax: JsonPathSyntax): Steps {
  if (text.length > jsonPathLengthMax) throw new JsonPathError('path is too long', text);
  return new Parser(syntax === 'relaxed' ? withoutOptionalParts(text) : text, syntax).parse();
}

/** The path in the strict notation: no braces, a first dot, no last dot. */
function withoutOptionalParts(text: string): string {
  const trimmed = text.trim();
  const inner = /^\{(.*)\}$/s.exec(trimmed)?.[1]?.trim() ?? trimmed;
  const path = inner.replace(/(?<![.\\])\.$/, '');
  return path === '' || /^[.[$@]/.test(path) ? path : `.${path}`;
}

class Parser {
  private position = 0;
  private readonly steps: Step[] = [];

  constructor(
    private readonly text: string,
    private readonly syntax: JsonPathSyntax,
  ) {}

  parse(): Steps {
    while (this.position < this.text.length) {
      const start = this.position;
      try {
        this.step();
      } catch (error) {
        if (!(error instanceof JsonPathError)) throw error;
        throw new JsonPathError(error.message, this.text.slice(start));
      }
    }
    return this.steps;
  }

  private step(): void {
    const { text, position } = this;
    const character = text[position]!;
    if (text.startsWith('[?(', position)) this.filter();
    else if (text.startsWith('..', position)) this.descent();
    else if (character === '[') this.brackets();
    else if (this.syntax === 'relaxed' && text.startsWith('.[', position)) this.position += 1;
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
    const relaxed = this.syntax === 'relaxed' ? relaxedSelection(inner.trim()) : undefined;
    const parts = inner.split(',');
    if (relaxed) this.steps.push(relaxed);
    else if (parts.length === 1) this.steps.push(...selection(inner));
    else this.steps.push({ kind: 'union', paths: parts.map((part) => selection(part.trim())) });
  }

  private filter(): void {
    const start = this.position + 3;
    const end = filterEnd(this.text, start);
    this.position = end + 2;
    const inner = this.text.slice(start, end);
    const [, left, operator = '', right = ''] = /^([^!<>=]+)([!<>=]+)(.+)$/.exec(inner) ?? [];
    if (left === undefined) {
      this.steps.push({ kind: 'exists', path: new Parser(inner, this.syntax).parse() });
      return;
    }
    if (!isComparisonOperator(operator)) {
      throw new JsonPathError(`unrecognized filter operator ${operator}`);
    }
    this.steps.push({
      kind: 'compare',
      left: new Parser(left, this.syntax).parse(),
      operator,
      right: this.operand(right),
    });
  }

  /** The right side of a comparison. */
  private operand(text: string): Steps {
    const word =
      this.syntax === 'relaxed' ? /^\s*([\p{L}_][^\s@$.[\]]*)\s*$/u.exec(text)?.[1] : undefined;
    if (word === undefined || word === 'true' || word === 'false') {
      return new Parser(text, this.syntax).parse();
    }
    return [{ kind: 'literal', value: word }];
  }
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/** The position of the closing parenthesis: the first one outside a quoted text. */
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

/**
 * The step for what only the relaxed syntax has between brackets: a name as it is, any member of an
 * object.
 */
function relaxedSelection(text: string): Step | undefined {
  if (text === '*') return { kind: 'every' };
  const name = /^(?:'([^']*)'|"([^"]*)")$/.exec(text);
  return name ? { kind: 'field', name: name[1] ?? name[2] ?? '' } : undefined;
}

/** The steps for a name, an index or a range between brackets. */
function selection(text: string): Steps {
  if (text === '*') return [{ kind: 'slice', from: 0, to: undefined, stride: 1 }];
  const name = /^'([^']*)'$/.exec(text)?.[1];
  if (name !== undefined) return new Parser(`.${name}`, 'strict').parse();
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
