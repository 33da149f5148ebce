import type { PriorityClass } from '@orch/types/scheduling/v1';
import { describe, expect, it } from 'vitest';
import { create, update } from '../testing/write.js';
import { priorityClass } from './priority-class.js';
import { systemPriorityClasses } from './system-classes.js';

describe('priority classes', () => {
  it('with the system prefix must equal the initial ones', () => {
    for (const systemClass of systemPriorityClasses()) {
      expect(create(priorityClass, systemClass).errors).toEqual([]);
      expect(create(priorityClass, { ...systemClass, value: 1 }).errors).toHaveLength(1);
    }
    expect(create(priorityClass, { metadata: { name: 'system-mine' }, value: 1 }).errors).toEqual([
      "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-mine is not a known system priority class",
    ]);
  });
  it('of users have a maximum value', () => {
    expect(create(priorityClass, { value: 1_000_000_001 }).errors).toEqual([
      'value: Forbidden: maximum allowed value of a user defined priority is 1000000000',
    ]);
  });
  it('reject changes of value and preemption policy', () => {
    const { object } = create<PriorityClass>(priorityClass, { value: 5 });
    expect(object.preemptionPolicy).toBe('PreemptLowerPriority');
    // Rules for creation do not apply to updates.
    const { errors } = update(priorityClass, object, (changed: PriorityClass) => {
      Object.assign(changed, { value: 2_000_000_000, preemptionPolicy: 'Never' });
    });
    expect(errors).toEqual([
      'Value: Forbidden: may not be changed in an update.',
      'preemptionPolicy: Invalid value: "Never": field is immutable',
    ]);
  });
});
