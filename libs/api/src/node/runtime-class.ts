/** RuntimeClass: a way to run containers, its overhead, and the nodes that support it. */
import {
  checkDns1123Label,
  type FieldError,
  type FieldPath,
  fieldError,
  immutable,
  path,
  validateLabels,
} from '@orch/apimachinery';
import type { RuntimeClass, Scheduling } from '@orch/types/node/v1';
import type { RuntimeClass as AlphaClass } from '@orch/types/node/v1alpha1';
import { validateTolerations } from '../core/placement/affinity-validation.js';
import { validateResourceRequirements } from '../core/resources/resource-rules.js';
import { type ApiObject, define } from '../definition.js';
import { ageColumn, nameColumn } from '../shared/columns.js';
import { invalidEach } from '../shared/rules.js';

function validateRuntimeClass({ handler = '', overhead, scheduling }: RuntimeClass): FieldError[] {
  return [
    ...invalidEach(path('handler'), handler, checkDns1123Label(handler)),
    ...(overhead
      ? validateResourceRequirements({ limits: overhead.podFixed }, path('overhead'))
      : []),
    ...(scheduling ? validateScheduling(scheduling, path('scheduling')) : []),
  ];
}

function validateScheduling(
  { nodeSelector, tolerations = [] }: Scheduling,
  fieldPath: FieldPath,
): FieldError[] {
  const errors = validateLabels(nodeSelector, fieldPath.child('nodeSelector'));
  const field = fieldPath.child('tolerations');
  // Errors name the list twice.
  errors.push(...validateTolerations(tolerations, field.child('tolerations')));
  const seen = new Set<string>();
  for (const [index, toleration] of tolerations.entries()) {
    const { key, operator, value, effect } = toleration;
    const id = JSON.stringify([key, operator, value, effect]);
    if (seen.has(id)) errors.push(fieldError.duplicate(field.index(index), toleration));
    seen.add(id);
  }
  return errors;
}

/** The oldest version nests all fields in a spec. */
function fromAlpha({ spec, ...same }: AlphaClass): RuntimeClass {
  const { runtimeHandler, ...rest } = spec;
  return { ...same, handler: runtimeHandler, ...rest };
}

function toAlpha({ handler, overhead, scheduling, ...same }: RuntimeClass): ApiObject {
  const converted: AlphaClass = {
    ...same,
    spec: {
      runtimeHandler: handler,
      ...(overhead && { overhead }),
      ...(scheduling && { scheduling }),
    },
  };
  return converted;
}

export const runtimeClass = define<RuntimeClass>({
  plural: 'runtimeclasses',
  singular: '',
  kind: 'RuntimeClass',
  namespaced: false,
  versions: [
    { group: 'node', version: 'v1' },
    { group: 'node', version: 'v1beta1' },
    { group: 'node', version: 'v1alpha1', toStored: fromAlpha, fromStored: toAlpha },
  ],
  stored: { group: 'node', version: 'v1' },
  validate: validateRuntimeClass,
  strictFinalizers: false,
  updateChecks: ['metadata', 'object', 'metadataUpdate', 'update'],
  validateUpdate: (object, old) =>
    object.handler === old.handler ? [] : [immutable(path('handler'), object.handler)],
  createOnUpdate: true,
  unconditionalUpdate: false,
  columns: [
    nameColumn(),
    {
      name: 'Handler',
      type: 'string',
      description: "Configuration in the node's runtime.",
      cell: (object) => object.handler ?? '',
    },
    ageColumn(),
  ],
});
