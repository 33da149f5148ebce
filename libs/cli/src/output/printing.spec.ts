import { describe, expect, it } from 'vitest';
import { UsageError } from '../command-line/errors.js';
import { parsePath } from './json-path.js';
import { ObjectTexts, objectText, outputFormat } from './object-text.js';
import { headerOf, rowText } from './server-table.js';
import { TableWriter } from './table.js';

describe('tables', () => {
  it('aligns columns and leaves no space at the end of lines', () => {
    const text = new TableWriter().format([
      ['NAME', 'READY', 'AGE'],
      ['hello-1', '1/1', '5s'],
    ]);
    expect(text).toBe('NAME      READY   AGE\nhello-1   1/1     5s\n');
  });

  it('replaces control characters', () => {
    expect(new TableWriter().format([['a\u001b[31mb\nc']])).toBe('a\ufffd[31mb c\n');
  });

  it('adds namespaces, labels and wide columns if requested', () => {
    const columns = [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'Node', type: 'string', priority: 1 },
    ];
    const view = {
      wide: false,
      withNamespace: true,
      withLabels: true,
      labelColumns: ['example.com/tier'],
      namePrefix: 'pod/',
    };
    const row = {
      cells: ['a', null],
      object: { metadata: { namespace: 'ns', labels: { b: '2', a: '1' } } },
    };
    expect(headerOf(columns, view)).toEqual(['NAMESPACE', 'NAME', 'TIER', 'LABELS']);
    expect(rowText(row, columns, view)).toEqual(['ns', 'pod/a', '<none>', 'a=1,b=2']);
    expect(rowText(row, columns, { ...view, wide: true })[2]).toBe('<none>');
  });
});

describe('objects', () => {
  const object = {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'a', managedFields: [{}] },
    spec: {
      containers: [
        { name: 'x', image: 'i' },
        { name: 'second', image: 'j' },
      ],
    },
  };
  const text = (format: string) => objectText(object, outputFormat(format), 'pod');

  it('prints JSON and YAML in order and without managed fields', async () => {
    expect(JSON.parse(await text('json'))).toEqual({
      ...object,
      metadata: { name: 'a' },
    });
    expect(await text('yaml')).toBe(
      'apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n  - image: i\n    name: x\n  - image: j\n    name: second\n',
    );
    expect(await text('name')).toBe('pod/a\n');
  });

  it('separates documents of YAML, and nothing else', () => {
    const texts = (format: string) => {
      const written = new ObjectTexts(outputFormat(format));
      return ['a', 'b'].map((name) => written.next({ metadata: { name } }, 'pod')).join('');
    };
    expect(texts('yaml')).toBe('metadata:\n  name: a\n---\nmetadata:\n  name: b\n');
    expect(texts('name')).toBe('pod/a\npod/b\n');
  });

  it('prints values of paths', async () => {
    expect(await text('jsonpath={.metadata.name}{"\\n"}')).toBe('a\n');
    expect(await text('jsonpath={.spec.containers[*].image}')).toBe('i j');
    expect(await text('jsonpath=images: {..image}')).toBe('images: i j');
  });

  it('repeats a part of a template with each value', () => {
    const each =
      '{range .spec.containers[*]}{.name}{"\\t"}{@.image} of {$.metadata.name}{"\\n"}{end}.';
    expect(text(`jsonpath=${each}`)).toBe('x\ti of a\nsecond\tj of a\n.');
    expect(text(`jsonpath={range .spec}{range .containers[*]}{.name}{'{}'}{end}{end}`)).toBe(
      'x{}second{}',
    );
  });

  it.each(['{range .a}', '{end}', '{.a', '{range}'])('rejects the template %s', (template) => {
    expect(() => outputFormat(`jsonpath=${template}`)).toThrow(UsageError);
  });

  it('rejects unknown formats', () => {
    expect(() => outputFormat('xml')).toThrow('-o: want one of');
  });
});

describe('JSON paths', () => {
  const value = {
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }, { type: 'X' }] },
    metadata: { labels: { 'a.b/c': '1' } },
    n: [1, 2, 3],
  };
  it.each([
    ['.status.phase', ['Running']],
    ['{.status.phase}', ['Running']],
    ['status.phase', ['Running']],
    ["$.metadata.labels['a.b/c']", ['1']],
    ['.metadata.labels.a\\.b/c', ['1']],
    ['.n[-1]', [3]],
    ['.n[0:2]', [1, 2]],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    ['.status.conditions[?(@.status)].type', ['Ready']],
    ['.n[*]', [1, 2, 3]],
    ['.nowhere.at.all', []],
  ])('%s', (path, values) => {
    expect(parsePath(path).find(value)).toEqual(values);
  });

  it('reports the position of an error', () => {
    expect(() => parsePath('.a[')).toThrow('from "[" on');
  });
});
