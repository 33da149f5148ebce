import { expect, it } from 'vitest';
import { hollowPodRange } from './hollow-options.js';

it('gives each node a part with twice as many addresses as pods', () => {
  expect(hollowPodRange('100.64.0.0/10', 0, 110)).toBe('100.64.0.0/24');
  expect(hollowPodRange('100.64.0.0/10', 4_999, 110)).toBe('100.83.135.0/24');
  expect(hollowPodRange('10.0.0.0/8', 1, 250)).toBe('10.0.2.0/23');
  expect(hollowPodRange('10.0.0.0/8', 1, 1)).toBe('10.0.0.16/28');
});

it('names the number of nodes for which a range has room', () => {
  expect(() => hollowPodRange('10.0.0.0/16', 256, 110)).toThrow('has room for 256 nodes of /24');
  expect(() => hollowPodRange('fd00::/64', 0, 110)).toThrow('is not an IPv4 network');
});
