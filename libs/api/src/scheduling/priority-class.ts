/** PriorityClass: a name for a priority of pods. Names of the system are its own. */
import { type FieldError, fieldError, immutable, path } from '@orch/apimachinery';
import type { PriorityClass } from '@orch/types/scheduling/v1';
import { define } from '../definition.js';
import { ageColumn, nameColumn } from '../shared/columns.js';
import { checkOneOf } from '../shared/rules.js';
import { systemPriorityClasses } from './system-classes.js';

const systemPrefix = 'system-';
/** Above it is the system's. */
const userValueMax = 1_000_000_000;

function validatePriorityClass(object: PriorityClass): FieldError[] {
  const errors: FieldError[] = [];
  const name = object.metadata?.name ?? '';
  if (name.startsWith(systemPrefix)) {
    const known = systemPriorityClasses().find((one) => one.metadata?.name === name);
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
      ...checkOneOf(
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
      description: 'Priority of pods of this class; the highest goes first.',
      cell: (object) => object.value ?? 0,
    },
    {
      name: 'Global-Default',
      type: 'boolean',
      description: 'Whether pods that name no class are of this one.',
      cell: (object) => object.globalDefault ?? false,
    },
    ageColumn(),
  ],
});
