import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeAtomicDirectory } from './atomic-directory.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'orch-atomic-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const files = (entries: Record<string, string>, mode = 0o644) =>
  new Map(
    Object.entries(entries).map(([path, text]) => [path, { content: Buffer.from(text), mode }]),
  );

it('replaces all files atomically, and nothing if they are equal', () => {
  expect(writeAtomicDirectory(directory, files({ a: '1', 'sub/b': '2' }))).toBe(true);
  const first = readlinkSync(join(directory, '..data'));
  expect(readFileSync(join(directory, 'sub/b'), 'utf8')).toBe('2');
  expect(lstatSync(join(directory, 'a')).isSymbolicLink()).toBe(true);
  expect(writeAtomicDirectory(directory, files({ a: '1', 'sub/b': '2' }))).toBe(false);
  expect(writeAtomicDirectory(directory, files({ a: '3', c: '4' }))).toBe(true);
  expect(readlinkSync(join(directory, '..data'))).not.toBe(first);
  expect(readFileSync(join(directory, 'a'), 'utf8')).toBe('3');
  expect(
    readdirSync(directory)
      .filter((name) => !name.startsWith('..'))
      .sort(),
  ).toEqual(['a', 'c']);
  expect(readdirSync(directory)).toHaveLength(4);
});

it('applies the requested modes', () => {
  writeAtomicDirectory(directory, files({ a: '1' }, 0o400));
  expect(statSync(join(directory, 'a')).mode & 0o777).toBe(0o400);
  expect(writeAtomicDirectory(directory, files({ a: '1' }, 0o440))).toBe(true);
  expect(statSync(join(directory, 'a')).mode & 0o777).toBe(0o440);
});
