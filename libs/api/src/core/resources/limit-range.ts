/**
 * LimitRange: bounds and default requests and limits for pods, containers and claims in a
 * namespace.
 */
import { path } from '@orch/apimachinery';
import type { LimitRange, LimitRangeItem } from '@orch/types/core/v1';
import { define } from '../../definition.js';
import { createdAtColumn, nameColumn } from '../../shared/columns.js';
import { dropEmptyLists } from '../../shared/empty-lists.js';
import { validateLimits } from './limit-range-validation.js';

/** The default limit is the maximum, the default request is the default limit. */
function setItemDefaults(item: LimitRangeItem): void {
  if (item.type !== 'Container') return;
  const limits = { ...item.max, ...item.default };
  const requests = { ...item.min, ...limits, ...item.defaultRequest };
  if (Object.keys(limits).length > 0) item.default = limits;
  if (Object.keys(requests).length > 0) item.defaultRequest = requests;
}

function dropEmpty({ spec }: LimitRange): void {
  if (spec) dropEmptyLists(spec, 'limits');
}

export const limitRange = define<LimitRange>({
  plural: 'limitranges',
  singular: '',
  kind: 'LimitRange',
  shortNames: ['limits'],
  namespaced: true,
  versions: [
    {
      group: 'core',
      version: 'v1',
      setDefaults: (object: LimitRange) => object.spec?.limits?.forEach(setItemDefaults),
    },
  ],
  stored: { group: 'core', version: 'v1' },
  prepareForCreate(object) {
    dropEmpty(object);
    // An object without a name is named after its uid, whatever its generateName.
    object.metadata ??= {};
    object.metadata.name ||= object.metadata.uid;
  },
  prepareForUpdate: dropEmpty,
  updateChecks: ['metadata', 'object'],
  validate: ({ spec }) => validateLimits(spec?.limits ?? [], path('spec', 'limits')),
  createOnUpdate: true,
  columns: [nameColumn(), createdAtColumn()],
});
