import { definitions } from '@orch/api';
import { StatusError } from '@orch/apimachinery';
import type { Entry } from '@orch/store';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ResourceTable } from '../table/resource-table.js';
import { parseSelection } from './selection.js';

const pods = new ResourceTable(definitions).find('', 'v1', 'pods')!;

it.each(['__proto__', 'constructor', 'toString'])('%s is no field to select by', (field) => {
  expect(() => parseSelection(pods, '', `${field}=a`)).toThrow(StatusError);
});

it('takes the fields of the kind', () => {
  expect(parseSelection(pods, '', 'status.phase=Running,metadata.name=a').name).toBe('a');
});

const nodes = fc.constantFrom('', 'a', 'b');
const requirements = fc.array(
  fc.tuple(
    fc.constantFrom('spec.nodeName', 'metadata.name', 'metadata.namespace', 'status.phase'),
    fc.constantFrom('=', '!='),
    nodes,
  ),
  { minLength: 1, maxLength: 3 },
);

it('has a watch index that finds every object that it matches', () => {
  const one = fc.record({ name: fc.constantFrom('a', 'b'), namespace: fc.constantFrom('a', 'b') });
  fc.assert(
    fc.property(requirements, one, nodes, (fields, metadata, nodeName) => {
      const text = fields.map((requirement) => requirement.join('')).join(',');
      const selection = parseSelection(pods, '', text);
      const selects = selection.watchIndex();
      const entry = podEntry({ metadata, spec: { nodeName }, status: { phase: '' } });
      if (selects && selection.matches(entry)) {
        expect(selects.index.valueOf(entry)).toBe(selects.value);
      }
    }),
    { numRuns: 1_000 },
  );
});

it('shares the index of a field between selections and leaves unreadable objects to the watch', () => {
  const index = (text: string) => parseSelection(pods, '', text).watchIndex()!.index;
  expect(index('spec.nodeName=a')).toBe(index('spec.nodeName=b'));
  expect(index('spec.nodeName=a')).not.toBe(index('metadata.name=a'));
  expect(parseSelection(pods, '', 'spec.nodeName!=a').watchIndex()).toBeUndefined();
  const damaged = { ...podEntry({ metadata: {} }), bytes: Buffer.from('{') };
  expect(index('spec.nodeName=a').valueOf(damaged)).toBeUndefined();
});

interface PodFields {
  readonly metadata: { readonly name?: string; readonly namespace?: string };
  readonly spec?: object;
  readonly status?: object;
}

function podEntry(pod: PodFields): Entry {
  const { namespace = '', name = '' } = pod.metadata;
  const bytes = Buffer.from(JSON.stringify(pod));
  const key = pods.resource.key(namespace, name);
  return { key, bytes, derived: undefined } as unknown as Entry;
}
