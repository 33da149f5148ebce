/**
 * Templates with JSON paths: literal text, `{PATH}` for the values at a path, `{"TEXT"}` for text
 * with escapes, `{range PATH}...{end}` to repeat a part with each value as its root. A path that
 * begins with `$` starts at the object, also inside a range. A template without braces is one path.
 */
import type { JsonPath } from '@orch/apimachinery';
import { UsageError } from '../command-line/errors.js';
import { parsePath } from './json-path.js';

type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'values'; readonly reference: PathReference }
  | { readonly kind: 'range'; readonly reference: PathReference; readonly body: Template };

export type Template = readonly Part[];

interface PathReference {
  readonly path: JsonPath;
  readonly fromRoot: boolean;
}

/** Literal text or one `{...}`. Braces and quotes inside quotes belong to the quoted text. */
const partPattern = /\{((?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^{}"'])*)\}|([^{]+)/gy;

/** Parses a template. Throws `UsageError`. */
export function parseTemplate(source: string): Template {
  if (!source.includes('{')) return [values(source)];
  const pattern = new RegExp(partPattern);
  const root: Part[] = [];
  const open: { body: Part[]; reference: PathReference }[] = [];
  while (pattern.lastIndex < source.length) {
    const from = pattern.lastIndex;
    const match = pattern.exec(source);
    if (!match) throw unreadable(source, `"${source.slice(from)}" is not terminated`);
    const body = open.at(-1)?.body ?? root;
    const [, inner, text] = match;
    if (inner === undefined) {
      body.push({ kind: 'text', text: text ?? '' });
      continue;
    }
    const expression = inner.trim();
    const range = /^range(?:\s+(.+))?$/s.exec(expression);
    if (range) open.push({ body: [], reference: rangeOf(range[1], source) });
    else if (expression === 'end') {
      const ended = open.pop();
      if (!ended) throw unreadable(source, '{end} without {range}');
      const outer = open.at(-1)?.body ?? root;
      outer.push({ kind: 'range', ...ended });
    } else body.push(quotedText(expression) ?? values(expression));
  }
  if (open.length > 0) throw unreadable(source, '{range} without {end}');
  return root;
}

export function renderTemplate(template: Template, root: unknown, current = root): string {
  return template.map((part) => partText(part, root, current)).join('');
}

function partText(part: Part, root: unknown, current: unknown): string {
  if (part.kind === 'text') return part.text;
  const { path, fromRoot } = part.reference;
  const found = path.find(fromRoot ? root : current);
  if (part.kind === 'values') return found.map(valueText).join(' ');
  return found.map((value) => renderTemplate(part.body, root, value)).join('');
}

function values(expression: string): Part {
  return { kind: 'values', reference: referenceOf(expression) };
}

function rangeOf(expression: string | undefined, source: string): PathReference {
  if (!expression) throw unreadable(source, '{range} without a path');
  return referenceOf(expression);
}

function referenceOf(expression: string): PathReference {
  const text = expression.trim();
  return { path: parsePath(text.replace(/^@/, '')), fromRoot: text.startsWith('$') };
}

function quotedText(expression: string): Part | undefined {
  const match = /^(["'])(.*)\1$/s.exec(expression);
  if (!match) return undefined;
  return { kind: 'text', text: match[2]!.replace(/\\(.)/gs, (_, sign) => escapes[sign] ?? sign) };
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

function valueText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function unreadable(source: string, why: string): UsageError {
  return new UsageError(`cannot read template ${JSON.stringify(source)}: ${why}`);
}
