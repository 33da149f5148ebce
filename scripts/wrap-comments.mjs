/**
 * `node scripts/wrap-comments.mjs FILE...`: wraps comments with a line of more than 100 columns.
 * Tables, indented text and tags begin a line of their own.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const columnsMax = 100;
/** A line that no paragraph flows into: empty, indented, a list item, a table row or a tag. */
const ownLine = /^(?:$|\s|[-*|@]|\d+\.\s|```)/;

function paragraphsOf(lines) {
  const paragraphs = [];
  for (const line of lines) {
    const previous = paragraphs.at(-1);
    if (previous === undefined || previous === '' || ownLine.test(line)) paragraphs.push(line);
    else paragraphs[paragraphs.length - 1] = `${previous} ${line}`;
  }
  return paragraphs;
}

function wrap(text, width) {
  if (/^[|]/.test(text)) return [text];
  const indent = /^(?:\s*[-*]\s|\s+)/.test(text)
    ? ' '.repeat(/^\s*(?:[-*]\s)?/.exec(text)[0].length)
    : '';
  const lines = [];
  let line = '';
  for (const word of text.split(/(?<=\S) +/)) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = indent + word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

const isTooWide = (text) => text.split('\n').some((line) => line.length > columnsMax);

function wrapBlock(comment, indent, body) {
  if (!isTooWide(comment)) return comment;
  const lines = body
    .replace(/\s+$/, '')
    .split('\n')
    .map((line) => line.replace(/^ *\* ?/, ''));
  const width = columnsMax - indent.length - 3;
  const wrapped = paragraphsOf(lines.map((line, index) => (index === 0 ? line.trimStart() : line)))
    .filter((paragraph, index) => index > 0 || paragraph !== '')
    .flatMap((paragraph) => wrap(paragraph, width));
  const oneLine = `${indent}/** ${wrapped[0]} */`;
  if (wrapped.length === 1 && oneLine.length <= columnsMax) return oneLine;
  const inner = wrapped.map((line) => `${indent} *${line === '' ? '' : ` ${line}`}`);
  return [`${indent}/**`, ...inner, `${indent} */`].join('\n');
}

function wrapLines(comment, indent) {
  if (!isTooWide(comment) || comment.includes('biome-ignore')) return comment;
  const lines = comment.split('\n').map((line) => line.replace(/^ *\/\/ ?/, ''));
  const wrapped = paragraphsOf(lines).flatMap((text) => wrap(text, columnsMax - indent.length - 3));
  return wrapped.map((line) => `${indent}//${line === '' ? '' : ` ${line}`}`).join('\n');
}

for (const path of process.argv.slice(2)) {
  const text = readFileSync(path, 'utf8');
  const wrapped = text
    .replace(/^( *)\/\*\*((?:(?!\*\/)[\s\S])*)\*\/$/gm, wrapBlock)
    .replace(/^( *)\/\/ .*(?:\n\1\/\/.*)*$/gm, wrapLines);
  if (wrapped !== text) writeFileSync(path, wrapped);
}
