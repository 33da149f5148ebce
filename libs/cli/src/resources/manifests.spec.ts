import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { CliError } from '../command-line/errors.js';
import type { Io } from '../command-line/io.js';
import { parseManifests, readManifests } from './manifests.js';

const directory = mkdtempSync(join(tmpdir(), 'orchctl-manifests-'));
afterAll(() => rmSync(directory, { recursive: true }));

const map = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n`;
const io: Io = {
  out: () => undefined,
  err: () => undefined,
  readInput: async () => map('piped'),
};
const names = async (files: string[], recursive = false) =>
  (await readManifests(files, recursive, io)).map(({ object }) => object.metadata?.name);

describe('readManifests and parseManifests', () => {
  mkdirSync(join(directory, 'inner'));
  writeFileSync(join(directory, 'b.yaml'), `${map('b1')}---\n# nothing\n---\n${map('b2')}`);
  writeFileSync(
    join(directory, 'a.json'),
    '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}',
  );
  writeFileSync(join(directory, 'readme.md'), 'not one');
  writeFileSync(join(directory, 'inner', 'c.yml'), map('c'));

  it('read files, directories and standard input', async () => {
    expect(await names([directory])).toEqual(['a', 'b1', 'b2']);
    expect(await names([directory], true)).toEqual(['a', 'b1', 'b2', 'c']);
    expect(await names(['-', join(directory, 'a.json')])).toEqual(['piped', 'a']);
  });

  it.each([
    ['of a missing anchor', 'a: *b\n', 'Unresolved alias'],
    ['of its own parent', 'a: &a [*a]\n', 'nested deeper'],
    ['with too many nodes', `a: &a [x,x]\nb: [${'*a,'.repeat(2_000)}]\n`, 'alias'],
  ])('reject an alias %s', (_, text, cause) => {
    expect(() => parseManifests(`${map('x')}${text}`, 'f')).toThrow(CliError);
    expect(() => parseManifests(`${map('x')}${text}`, 'f')).toThrow(new RegExp(cause));
  });

  it('return the items of lists', () => {
    const list = `apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: x}}\n`;
    expect(parseManifests(list, 'f').map(({ object }) => object.kind)).toEqual(['Pod']);
  });

  it('read numbers and times as YAML 1.1', () => {
    const text = `${map('x')}data: {mode: 0644, at: 2026-01-02T03:04:05Z, span: 1:30, flag: yes}`;
    expect(parseManifests(text, 'f')[0]?.object).toMatchObject({
      data: { mode: 420, at: '2026-01-02T03:04:05Z', span: '1:30', flag: true },
    });
  });

  it('read merge keys, and field names that are dots', () => {
    const text = `${map('x')}base: &base {a: 1, b: 2}\ndata: {<<: *base, b: 3, .: {}}\n`;
    expect(parseManifests(text, 'f')[0]?.object).toMatchObject({ data: { a: 1, b: 3, '.': {} } });
    expect(() => parseManifests(`${map('x')}<<: 1\n`, 'f')).toThrow(CliError);
  });

  it.each([
    ['a: [', 'cannot read f:'],
    ['kind: Pod', 'f: an object has no apiVersion'],
    ['just text', 'want an object'],
  ])('report the error of %s', (text, message) => {
    expect(() => parseManifests(text, 'f')).toThrow(message);
  });

  it('name a missing file', async () => {
    await expect(names(['/no/such.yaml'])).rejects.toThrow('"/no/such.yaml" does not exist');
  });
});
