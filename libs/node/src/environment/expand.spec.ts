import { expect, it } from 'vitest';
import { expand } from './expand.js';

it.each([
  ['plain', 'plain'],
  ['$(A)-$(B)', '1-$(A)'],
  ['$(NONE)', '$(NONE)'],
  ['$$(A)', '$(A)'],
  ['$$$(A)', '$1'],
  ['$A $( $(A', '$A $( $(A'],
  ['$', '$'],
  ['$$', '$'],
])('%s -> %s', (text, expected) => {
  const known = new Map([
    ['A', '1'],
    ['B', '$(A)'],
  ]);
  expect(expand(text, (name) => known.get(name))).toBe(expected);
});
