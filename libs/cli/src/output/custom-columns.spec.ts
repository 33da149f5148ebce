import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UsageError } from '../command-line/errors.js';
import { CustomColumnsPrinter, customColumns } from './custom-columns.js';

const pod = (name: string) => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name, labels: { b: '2', a: '1' } },
  spec: {
    priority: 5,
    hostNetwork: true,
    containers: [{ image: 'x' }, { image: 'y', args: ['-v', '1'] }],
  },
});

const table = (output: string, headers = true) =>
  new CustomColumnsPrinter(customColumns(output)!, headers).text([pod('first'), pod('second')]);

describe('custom columns', () => {
  it('prints one column for each path', () => {
    expect(
      table('custom-columns=NAME:.metadata.name,P:{.spec.priority},Host net:spec.hostNetwork'),
    ).toBe('NAME     P     Host net\nfirst    5     true\nsecond   5     true\n');
  });

  it('prints several values, lists, objects and missing values', () => {
    const columns = [
      'I:.spec.containers[*].image',
      'A:.spec.containers[1].args',
      'L:.metadata.labels',
      'N:.status.phase',
      'E:',
    ];
    expect(table(`custom-columns=${columns.join(',')}`, false).split('\n')[0]).toBe(
      'x,y   [-v 1]   map[a:1 b:2]   <none>   <none>',
    );
  });

  it('prints the header once and keeps the widths of a watch', () => {
    const printer = new CustomColumnsPrinter(
      customColumns('custom-columns=N:.metadata.name,K:.kind')!,
      true,
    );
    expect(printer.text([pod('long-name')])).toBe('N           K\nlong-name   Pod\n');
    expect(printer.text([pod('a')])).toBe('a           Pod\n');
  });

  it('prints the header if there is no object', () => {
    expect(new CustomColumnsPrinter(customColumns('custom-columns=N:.a')!, true).text([])).toBe(
      'N\n',
    );
  });

  it('leaves other formats to the caller', () => {
    for (const output of [undefined, 'json', 'custom-columnsx=A:.b']) {
      expect(customColumns(output)).toBeUndefined();
    }
  });

  const noColumns = 'custom-columns format specified but no custom columns given';
  it.each([
    ['custom-columns', noColumns],
    ['custom-columns=', noColumns],
    ['custom-columns-file=', noColumns],
    [
      'custom-columns=A:.a,B',
      'unexpected custom-columns spec: B, expected <header>:<json-path-expr>',
    ],
    ['custom-columns=A:{.a}{.b}', "unexpected path string, expected a 'name1.name2' or"],
    ['custom-columns=A:.a[', 'unterminated array'],
    ['custom-columns-file=/none/x', 'error reading template /none/x, '],
  ])('rejects %s', (output, message) => {
    expect(() => customColumns(output)).toThrow(UsageError);
    expect(() => customColumns(output)).toThrow(message);
  });

  describe('from a file', () => {
    let directory: string;
    beforeEach(() => {
      directory = mkdtempSync(join(tmpdir(), 'orchctl-columns-'));
    });
    afterEach(() => rmSync(directory, { recursive: true }));

    function file(content: string): string {
      const path = join(directory, 'columns');
      writeFileSync(path, content);
      return `custom-columns-file=${path}`;
    }

    it('reads headers and paths', () => {
      const output = file('NAME          KIND\n{metadata.name}  .kind\n');
      expect(table(output)).toBe('NAME     KIND\nfirst    Pod\nsecond   Pod\n');
      expect(table(output, false)).toBe('first    Pod\nsecond   Pod\n');
    });

    it.each([
      ['', 'invalid template, missing header line.'],
      ['A B\n', 'invalid template, missing spec line.'],
      ['A B\n.a\n', "number of headers (2) and field specifications (1) don't match"],
      ['x'.repeat(70_000), 'is larger than 65536 bytes'],
    ])('rejects %.20j', (content, message) => {
      expect(() => customColumns(file(content))).toThrow(message);
    });
  });
});
