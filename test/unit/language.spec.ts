/**
 * The prose of the project follows docs/style.md: pages, comments, test names, help and error texts
 * have no banned phrase. `node scripts/language.mjs FOLDER` prints the findings of a folder.
 */
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findingsIn, findingsOf, prosePaths, textOf } from '../../scripts/language/check.mjs';

const root = resolve(import.meta.dirname, '../..');
const paths = prosePaths(root);
const findings = findingsIn(root, paths);

describe('the prose of the project', () => {
  it('has no banned phrase', () => {
    expect(findings.map(textOf)).toEqual([]);
  });

  it('is read completely', () => {
    expect(paths.length).toBeGreaterThan(1500);
    expect(paths).toContain('README.md');
    expect(paths).toContain('proto/orch/api/core/v1.proto');
  });
});

describe('a banned phrase', () => {
  const found = (path: string, text: string) => findingsOf(path, text).map(({ line }) => line);

  it.each([
    ['a comment', 'a.ts', '\n// The server is asked again.\n'],
    ['a docstring', 'a.ts', '\n/** Whoever reads. */\n'],
    ['a help text', 'a.ts', "\nconst help = 'how long a server is asked';\n"],
    ['an error text', 'a.ts', '\nthrow new Error(`$' + '{name} is told of too late`);\n'],
    ['a test name', 'a.spec.ts', "\nit('goes on when it fails', () => {});\n"],
    [
      'a name of many tests',
      'a.spec.ts',
      "\ndescribe.each(all)('$name goes on then', () => {});\n",
    ],
    ['a page', 'docs/a.md', '# A\nReads are answered.\n'],
    ['a table', 'docs/a.md', '| a |\n| what it holds |\n'],
    ['a comment of the chart', 'charts/orch/values.yaml', 'a: 1\n# Made anew.\nb: 2\n'],
    ['a comment of a message', 'proto/a.proto', '\n// What it holds.\n'],
    ['an inverted opening', 'a.ts', '\n/** Of three, one fails. */\n'],
  ])('is found in %s', (_, path, text) => {
    expect(found(path, text)).toEqual([2]);
  });

  it('is found across a line break', () => {
    expect(found('a.ts', '/**\n * The server is\n * told of it.\n */\n')).toEqual([3]);
  });

  it.each([
    ['code of a page', 'docs/a.md', '```\ncut -d, what it is\n```\n`ask` and `tell`\n'],
    ['an identifier', 'a.ts', 'const ask = answer(tell);\n'],
    ['quoted code of a comment', 'a.ts', '// Calls `ask` first.\n'],
    [
      'an assertion',
      'a.spec.ts',
      "it('reads', () => expect(x).toBe('the server is asked again'));\n",
    ],
    ['a regular expression', 'a.ts', 'const a = /\\/\\/ is asked to/;\n'],
    ['a comment after non-ASCII text', 'a.ts', "const a = 'ä – €'; // reads\n"],
    ['a question', 'docs/a.md', 'But what is a lease?\n'],
  ])('is not found in %s', (_, path, text) => {
    expect(found(path, text)).toEqual([]);
  });
});
