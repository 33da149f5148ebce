import { expect, it } from 'vitest';
import { decisionNodeCountMax } from '../limits.js';
import { Decisions } from './decisions.js';

const decision = (uid: string, nodeCount: number) => ({
  ...{ uid, node: 'n0', decidedAtMs: 0, nodeCount, scores: undefined, added: undefined },
  rejections: new Map(),
  feasible: Array.from({ length: nodeCount }, (_, index) => `n${index}`),
});

it('keeps the latest decisions, up to a number of nodes', () => {
  const decisions = new Decisions();
  const nodeCount = decisionNodeCountMax / 10;
  for (let index = 0; index < 20; index++) {
    decisions.record(`default/${index}`, decision(`${index}`, nodeCount));
  }
  expect(decisions.count).toBe(9);
  expect(decisions.find('default/10', '10')).toBeUndefined();
  expect(decisions.find('default/19', '19')?.feasible).toHaveLength(nodeCount);
});

it('finds no decision about an earlier pod of the same name', () => {
  const decisions = new Decisions();
  decisions.record('default/a', decision('old', 1));
  expect(decisions.find('default/a', 'new')).toBeUndefined();
});
