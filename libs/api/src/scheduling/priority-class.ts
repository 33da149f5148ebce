/** PriorityClass: a name for a pod priority. Names with the system prefix are reserved. */
import { type FieldError, fieldError, immutable, path } from '@orch/apimachinery';
import type { PriorityClass } from '@orch/types/scheduling/v1';
import { define } from '../definition.js';
import { ageColumn, nameColumn } from '../shared/columns.js';
import { checkRequiredOneOf } from '../shared/rules.js';
import { systemPriorityClasses } from './system-classes.js';

const systemPrefix = 'system-';
/** Higher values are reserved for the system. */
const userValueMax = 1_000_000_000;

function validatePriorityClass(object: PriorityClass): FieldError[] {
  const errors: FieldError[] = [];
  const name = object.metadata?.name ?? '';
  if (name.startsWith(systemPrefix)) {
    const known = systemPriorityClasses().find(
      (systemClass) => systemClass.metadata?.name === name,
    );
    if (
      !known ||
      known.value !== object.value ||
      (known.globalDefault ?? false) !== (object.globalDefault ?? false)
    ) {
      errors.push(
        fieldError.forbidden(
          path('metadata', 'name'),
          `priority class names with '${systemPrefix}' prefix are reserved for system use only. error: ${problem(name, known)}`,
        ),
      );
    }
  } else if ((object.value ?? 0) > userValueMax) {
    errors.push(
      fieldError.forbidden(
        path('value'),
        `maximum allowed value of a user defined priority is ${userValueMax}`,
      ),
    );
  }
  if (object.preemptionPolicy !== undefined) {
    errors.push(
      ...checkRequiredOneOf(
        object.preemptionPolicy,
        ['PreemptLowerPriority', 'Never'],
        path('preemptionPolicy'),
      ),
    );
  }
  return errors;
}

function problem(name: string, known: PriorityClass | undefined): string {
  if (!known) return `${name} is not a known system priority class`;
  return `value of ${name} PriorityClass must be ${known.value}`;
}

export const priorityClass = define<PriorityClass>({
  plural: 'priorityclasses',
  singular: '',
  kind: 'PriorityClass',
  shortNames: ['pc'],
  namespaced: false,
  versions: [
    { group: 'scheduling', version: 'v1' },
    {
      group: 'scheduling',
      version: 'v1beta1',
      deprecation: {
        since: '1.14',
        unavailableFrom: '1.22',
        use: { group: 'scheduling', version: 'v1', kind: 'PriorityClass' },
      },
    },
    { group: 'scheduling', version: 'v1alpha1' },
  ],
  stored: { group: 'scheduling', version: 'v1' },
  hasGeneration: true,
  gatedFields: [{ gate: 'NonPreemptingPriority', path: 'preemptionPolicy' }],
  validateCreate: validatePriorityClass,
  updateChecks: ['metadataUpdate', 'update'],
  validateUpdate(object, old) {
    const errors: FieldError[] = [];
    if ((object.value ?? 0) !== (old.value ?? 0)) {
      errors.push(fieldError.forbidden(path('Value'), 'may not be changed in an update.'));
    }
    if (object.preemptionPolicy !== old.preemptionPolicy) {
      errors.push(immutable(path('preemptionPolicy'), object.preemptionPolicy));
    }
    return errors;
  },
  columns: [
    nameColumn(),
    {
      name: 'Value',
      type: 'integer',
      description: 'Priority of the pods of this class. Higher is scheduled first.',
      cell: (object) => object.value ?? 0,
    },
    {
      name: 'Global-Default',
      type: 'boolean',
      description: 'Whether this is the class of pods without one.',
      cell: (object) => object.globalDefault ?? false,
    },
    ageColumn(),
  ],
});
