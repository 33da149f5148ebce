/**
 * The prose of a file: comments, test names, help and error texts, or a page without its code.
 * Markers and code inside a passage are blanked, so that its lines stay in place.
 */
import { parseSync } from '@swc/core';

/**
 * @param {string} path
 * @param {string} text
 * @returns {{ text: string, line: number }[]} passages, each with the line at which it begins
 */
export function proseOf(path, text) {
  if (path.endsWith('.md')) return [{ text: markdownProse(text), line: 1 }];
  if (/\.(?:ya?ml|tpl)$/.test(path)) return passagesOf(text, /(?<=^|\s)#.*(?:\n[ ]*#.*)*/gm);
  if (path.endsWith('.proto')) return commentsOf(text);
  return codeProse(path, text);
}

function blank(text) {
  return text.replace(/[^\n]/g, ' ');
}

function passagesOf(text, pattern) {
  return [...text.matchAll(pattern)].map((match) => {
    return { text: match[0], line: lineAt(text, match.index) };
  });
}

function lineAt(text, offset) {
  let line = 1;
  for (let end = text.indexOf('\n'); end >= 0 && end < offset; end = text.indexOf('\n', end + 1)) {
    line += 1;
  }
  return line;
}

function markdownProse(text) {
  return text.replace(/^```.*?^```/gms, blank).replace(/`[^`]*`|\]\([^)]*\)/g, blank);
}

/** The comments of a text without literals, without their markers and code. */
function commentsOf(text) {
  return passagesOf(text, /\/\*[\s\S]*?\*\/|\/\/.*(?:\n[ ]*\/\/.*)*/g).map(({ text, line }) => ({
    text: text.replace(/\/\*+|\*+\/|^[ ]*\*|\/\/+|`[^`]*`|https?:\S+/gm, blank),
    line,
  }));
}

function codeProse(path, text) {
  // One character a byte, as the parser counts.
  const bytes = Buffer.from(text).toString('latin1');
  const syntax = path.endsWith('.ts') ? 'typescript' : 'ecmascript';
  const literals = literalsOf(parseSync(text, { syntax, decorators: true, target: 'es2022' }));
  let code = '';
  let end = 0;
  for (const literal of literals) {
    if (literal.start < end) continue;
    code += bytes.slice(end, literal.start) + blank(bytes.slice(literal.start, literal.end));
    end = literal.end;
  }
  code += bytes.slice(end);
  const isSpec = path.endsWith('.spec.ts');
  const texts = literals
    .filter(({ isTestName, isText }) => isText && (isTestName || !isSpec))
    .map((literal) => ({
      text: bytes.slice(literal.start, literal.end).replace(/\\./g, '  '),
      line: lineAt(bytes, literal.start),
    }));
  return [...commentsOf(code), ...texts];
}

/** Literals in the order of the file, with offsets that start at 0. */
function literalsOf(module) {
  const literals = [];
  const visit = (node, isTestName) => {
    if (node.type === 'StringLiteral' || node.type === 'TemplateElement') {
      const isText = (node.raw.match(/\S\s+\S/g)?.length ?? 0) >= 2;
      literals.push({ start: node.span.start - 1, end: node.span.end - 1, isText, isTestName });
      return;
    }
    if (node.type === 'RegExpLiteral') {
      literals.push({ start: node.span.start - 1, end: node.span.end - 1, isText: false });
      return;
    }
    const isTest = node.type === 'CallExpression' && isTestCall(node.callee);
    for (const key in node) {
      const child = node[key];
      if (typeof child !== 'object' || child === null || key === 'span') continue;
      if (!Array.isArray(child)) visit(child, isTestName);
      else {
        child.forEach((item, index) => {
          if (typeof item !== 'object' || item === null) return;
          const isName = isTest && key === 'arguments' && index === 0;
          visit(item.expression ?? item, isName);
        });
      }
    }
  };
  visit(module, false);
  return literals.sort((a, b) => a.start - b.start);
}

/** `it(...)`, `describe.each(...)(...)` and their kind. */
function isTestCall(callee) {
  if (callee.type === 'Identifier') return ['describe', 'it', 'test'].includes(callee.value);
  if (callee.type === 'MemberExpression') return isTestCall(callee.object);
  return callee.type === 'CallExpression' && isTestCall(callee.callee);
}
