import type { PriorityClass } from '@orch/types/scheduling/v1';
import { describe, expect, it } from 'vitest';
import { create, update } from '../testing/write.js';
import { priorityClass } from './priority-class.js';
import { systemPriorityClasses } from './system-classes.js';

describe('priority classes', () => {
  it('of the system are as the system has them', () => {
    for (const one of systemPriorityClasses()) {
      expect(create(priorityClass, one).errors).toEqual([]);
      expect(create(priorityClass, { ...one, value: 1 }).errors).toHaveLength(1);
    }
    expect(create(priorityClass, { metadata: { name: 'system-mine' }, value: 1 }).errors).toEqual([
      "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-mine is not a known system priority class",
    ]);
  });
  it('of users stay below those of the system', () => {
    expect(create(priorityClass, { value: 1_000_000_001 }).errors).toEqual([
      'value: Forbidden: maximum allowed value of a user defined priority is 1000000000',
    ]);
  });
  it('keep value and policy', () => {
    const { object } = create<PriorityClass>(priorityClass, { value: 5 });
    expect(object.preemptionPolicy).toBe('PreemptLowerPriority');
    // What holds at creation is not asked again.
    const { errors } = update(priorityClass, object, (changed: PriorityClass) => {
      Object.assign(changed, { value: 2_000_000_000, preemptionPolicy: 'Never' });
    });
    expect(errors).toEqual([
      'Value: Forbidden: may not be changed in an update.',
      'preemptionPolicy: Invalid value: "Never": field is immutable',
    ]);
  });
});
