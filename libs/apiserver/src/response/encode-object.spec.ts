import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { yamlBytes } from './encode-object.js';

describe('objects as YAML', () => {
  it('have sorted keys, lists in line with them, and quotes around what looks like no text', () => {
    const object = {
      kind: 'ConfigMap',
      metadata: { creationTimestamp: '2026-11-22T15:20:40Z', finalizers: ['a/b'], labels: {} },
      data: {
        '.': '.',
        hex: 'e1',
        on: 'yes',
        mode: '0644',
        date: '2026-11-22',
        version: '2',
        plain: 'text',
      },
    };
    expect(yamlBytes(object).toString()).toBe(`data:
  .: .
  date: "2026-11-22"
  hex: e1
  mode: "0644"
  "on": "yes"
  plain: text
  version: "2"
kind: ConfigMap
metadata:
  creationTimestamp: "2026-11-22T15:20:40Z"
  finalizers:
  - a/b
  labels: {}
`);
  });

  it.each(['1.1', '1.2'] as const)('are the same to readers of YAML %s', (version) => {
    const texts = ['y', 'No', 'null', '~', '0o14', '0x1f', '1e3', '1_000', '190:20:30', '.inf', ''];
    const wide = [
      'word '.repeat(60),
      'two\nlines\n',
      ' padded ',
      'a: b',
      '#',
      '- x',
      'a\tb',
      '\u0001',
    ];
    const values = [...texts, ...wide];
    expect(parse(yamlBytes({ values }).toString(), { version })).toEqual({ values });
  });
});
