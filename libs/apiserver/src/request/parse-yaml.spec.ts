import { isStatus, StatusError } from '@orch/apimachinery';
import { describe, expect, it } from 'vitest';
import { yamlMergesMax, yamlTokensMax } from '../limits.js';
import { parseYamlText } from './parse-yaml.js';

function refusal(text: string): unknown {
  try {
    parseYamlText(text);
  } catch (error) {
    return error;
  }
  throw new Error('nothing was refused');
}

describe('YAML bodies', () => {
  it('are read, the last of equal keys counting', () => {
    expect(parseYamlText('a: 1\nb: &x [z]\nc: *x\na: 2')).toEqual({ a: 2, b: ['z'], c: ['z'] });
  });

  it.each([
    ['0644', 0o644],
    ['"0644"', '0644'],
    ['1_000', 1_000],
    ['{.: {}}', { '.': {} }],
    ['[e1, .e1, ., -., 1e3, -.5, 1.5, .inf]', ['e1', '.e1', '.', '-.', 1_000, -0.5, 1.5, Infinity]],
    ['yes', true],
    ['off', false],
    ['2026-11-22T15:20:40Z', '2026-11-22T15:20:40Z'],
    ['190:20:30', '190:20:30'],
    ['!!set {x}', { x: null }],
    ['{"<<": {b: 1}}', { '<<': { b: 1 } }],
    ['{<<: {b: 1, c: 2}, b: 3}', { b: 3, c: 2 }],
    ['{<<: [{b: 1}, {b: 2, c: 3}]}', { b: 1, c: 3 }],
    ['[&x {b: 1}, {<<: *x, c: 2}]', [{ b: 1 }, { b: 1, c: 2 }]],
  ])('have values as manifests mean them: %s', (text, value) => {
    expect(parseYamlText(`a: ${text}`)).toEqual({ a: value });
  });

  it('may hold much text in few tokens', () => {
    const block = `a: |\n${'  a line of text\n'.repeat(10_000)}`;
    expect(parseYamlText(block)).toEqual({ a: 'a line of text\n'.repeat(10_000) });
  });

  it.each([
    ['sequence', '- a\n'.repeat(yamlTokensMax / 2)],
    ['map', Array.from({ length: yamlTokensMax / 4 }, (_, i) => `k${i}: v\n`).join('')],
    ['comments', '#c\n'.repeat(yamlTokensMax)],
  ])('with too many tokens are refused: %s', (_, text) => {
    expect(isStatus(refusal(text), 'RequestEntityTooLarge')).toBe(true);
  });

  it.each([
    ['merges of what is no map', '<<: 1', 'map merge requires map or sequence of maps'],
    ['merges of nothing', '<<: *a', 'map merge requires map or sequence of maps'],
    ['a map merged into itself', 'a: &a {<<: *a}', 'Excessive alias count'],
  ])('may not have %s', (_, text, cause) => {
    const error = refusal(text);
    expect((error as StatusError).code).toBe(400);
    expect((error as StatusError).message).toMatch(cause);
  });

  it.each(['<<', '!!merge <<'])('may not have many merges: %s', (key) => {
    const text = `a:\n${`- ${key}: {b: 1}\n`.repeat(yamlMergesMax + 1)}`;
    expect(() => parseYamlText(text)).toThrow('more than 100 merge keys');
  });

  it.each([
    ['flow', '['.repeat(5_000)],
    ['block', '- '.repeat(20_000)],
    ['map that holds itself', 'spec: &a\n  b: *a\n'],
    ['list that holds itself', 'a: &a [*a, *a]'],
    ['aliases', `a: &a [x,x]\n${'b: &b [*a,*a,*a,*a,*a,*a]\nc: &a [*b,*b,*b,*b]\n'.repeat(9)}`],
  ])('nested without end are bad requests: %s', (_, text) => {
    const error = refusal(text);
    expect(error).toBeInstanceOf(StatusError);
    expect((error as StatusError).code).toBe(400);
  });
});
