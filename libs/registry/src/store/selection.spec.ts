import { definitions } from '@orch/api';
import { StatusError } from '@orch/apimachinery';
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
