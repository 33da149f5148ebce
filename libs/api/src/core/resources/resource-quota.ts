/** ResourceQuota: limits on the total resources of a namespace. */
import { type FieldError, immutable, path } from '@orch/apimachinery';
import type { ResourceQuota } from '@orch/types/core/v1';
import { define } from '../../definition.js';
import { ageColumn, nameColumn } from '../../shared/columns.js';
import { validateQuotaAmounts, validateQuotaSpec } from './resource-quota-validation.js';

function validateStatus({ status }: ResourceQuota): FieldError[] {
  return (['hard', 'used'] as const).flatMap((field) =>
    validateQuotaAmounts(status?.[field], path('status', field)),
  );
}

const validateSpec = ({ spec }: ResourceQuota) => validateQuotaSpec(spec ?? {}, path('spec'));

function validateScopesUpdate({ spec }: ResourceQuota, old: ResourceQuota): FieldError[] {
  const scopes = new Set(spec?.scopes ?? []);
  const before = new Set(old.spec?.scopes ?? []);
  return scopes.size === before.size && [...scopes].every((scope) => before.has(scope))
    ? []
    : [immutable(path('spec', 'scopes'), [...scopes].sort())];
}

/** `pods: 1/2` for each resource that is a limit, or that is not. */
function usageCell({ status }: ResourceQuota, limits: boolean): string {
  return Object.keys(status?.hard ?? {})
    .filter((name) => name.startsWith('limits.') === limits)
    .sort()
    .map((name) => `${name}: ${status?.used?.[name] ?? '0'}/${status?.hard?.[name]}`)
    .join(', ');
}

export const resourceQuota = define<ResourceQuota>({
  plural: 'resourcequotas',
  singular: '',
  kind: 'ResourceQuota',
  shortNames: ['quota'],
  namespaced: true,
  versions: [{ group: 'core', version: 'v1' }],
  stored: { group: 'core', version: 'v1' },
  prepareForCreate(object) {
    object.status = {};
  },
  prepareForUpdate(object, old) {
    object.status = old.status;
  },
  validate: validateSpec,
  validateCreate: validateStatus,
  validateUpdate: validateScopesUpdate,
  updateChecks: ['metadataUpdate', 'object', 'update'],
  deleteReturnsObject: true,
  columns: [
    nameColumn(),
    ageColumn(),
    {
      name: 'Request',
      type: 'string',
      description: 'Usage and limits of requests and object counts.',
      cell: (object) => usageCell(object, false),
    },
    {
      name: 'Limit',
      type: 'string',
      description: 'Usage and limits of limits.',
      cell: (object) => usageCell(object, true),
    },
  ],
  status: {
    prepareForUpdate(object, old) {
      object.spec = old.spec;
    },
    validateUpdate: validateStatus,
  },
});
