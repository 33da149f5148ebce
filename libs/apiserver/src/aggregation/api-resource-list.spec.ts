import { describe, expect, it } from 'vitest';
import { aggregatedResourcesMax } from '../limits.js';
import { parseResourceList } from './api-resource-list.js';

const ware = { name: 'wares', kind: 'Ware', namespaced: true, verbs: ['get', 'list'] };
const listOf = (resources: unknown) => ({
  kind: 'APIResourceList',
  groupVersion: 'wares.example.com/v1',
  resources,
});

describe('the discovery document of an aggregated server', () => {
  it('lists its resources', () => {
    const listed = parseResourceList(listOf([{ ...ware, extra: 1 }]), 'wares.example.com/v1');
    expect(listed).toEqual([{ ...ware, singularName: '' }]);
  });

  it.each([
    ['a text', 'none'],
    ['another kind', { ...listOf([]), kind: 'Ware' }],
    ['another group version', { ...listOf([]), groupVersion: 'apps/v1' }],
    ['no list', listOf('wares')],
    ['a resource that is a text', listOf(['wares'])],
    ['a resource without a name', listOf([{ ...ware, name: '' }])],
    ['verbs that are numbers', listOf([{ ...ware, verbs: [1] }])],
    ['too many resources', listOf(Array(aggregatedResourcesMax + 1).fill(ware))],
  ])('is rejected: %s', (_what, document) => {
    expect(() => parseResourceList(document, 'wares.example.com/v1')).toThrow(Error);
  });
});
