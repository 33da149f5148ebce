/**
 * Resolves the priority of a pod from its class; a client may set the class, never the number. At
 * most one class is the default for pods without a class.
 */
import type { Pod, PodSpec } from '@orch/types/core/v1';
import type { PriorityClass } from '@orch/types/scheduling/v1';
import {
  type AdmissionContext,
  type AdmissionRule,
  type AdmissionTarget,
  forbiddenTarget,
  isWriteOf,
  type WriteTarget,
} from '../rule.js';

const defaultPolicy = 'PreemptLowerPriority';

interface Priority {
  readonly className?: string;
  readonly value: number;
  readonly preemptionPolicy: string;
}

export const priority: AdmissionRule = {
  name: 'Priority',
  isDefault: true,
  kinds: ['core/pods', 'scheduling/priorityclasses'],
  operations: ['CREATE', 'UPDATE'],
  subresource: '',

  async mutate(target, context) {
    if (isWriteOf(target, 'core', 'pods', ['UPDATE'])) keepPriority(target);
    if (!isWriteOf(target, 'core', 'pods', ['CREATE'])) return;
    const pod = target.object;
    pod.spec ??= {};
    const priority = await priorityOf(pod.spec, target, context);
    const hasPolicy = context.features.enabled('NonPreemptingPriority');
    check(pod.spec, priority, hasPolicy, target);
    if (priority.className !== undefined) pod.spec.priorityClassName = priority.className;
    pod.spec.priority = priority.value;
    if (hasPolicy) pod.spec.preemptionPolicy = priority.preemptionPolicy;
  },
  async validate(target, { reader }) {
    if (!isWriteOf(target, 'scheduling', 'priorityclasses', ['CREATE', 'UPDATE'])) return;
    const object = target.object;
    if (!object.globalDefault) return;
    const classes = await reader.list('scheduling', 'priorityclasses');
    const other = classes.find(
      ({ globalDefault, metadata }) => globalDefault && metadata?.name !== object.metadata?.name,
    );
    if (!other) return;
    throw forbiddenTarget(
      target,
      `PriorityClass ${other.metadata?.name} is already marked as default. Only one default can exist`,
    );
  },
};

/** An update may omit the fields that admission set. */
function keepPriority({ object, old }: WriteTarget<Pod>): void {
  const { spec } = object;
  const before = old?.spec;
  if (!spec || !before) return;
  spec.priority ??= before.priority;
  spec.preemptionPolicy ??= before.preemptionPolicy;
}

async function priorityOf(
  spec: PodSpec,
  target: AdmissionTarget,
  context: AdmissionContext,
): Promise<Priority> {
  const name = spec.priorityClassName;
  if (!name) return defaultPriority(context);
  const found = await context.reader.get('scheduling', 'priorityclasses', '', name);
  if (!found) throw forbiddenTarget(target, `no PriorityClass with name ${name} was found`);
  return ofClass(found);
}

/** The lowest of the default classes; without one, the priority is zero. */
async function defaultPriority({ reader }: AdmissionContext): Promise<Priority> {
  const classes = await reader.list('scheduling', 'priorityclasses');
  const defaults = classes.filter(({ globalDefault }) => globalDefault === true);
  const [lowest] = [...defaults].sort((a, b) => (a.value ?? 0) - (b.value ?? 0));
  return lowest ? ofClass(lowest) : { value: 0, preemptionPolicy: defaultPolicy };
}

function ofClass({ metadata, value, preemptionPolicy }: PriorityClass): Priority {
  return {
    className: metadata?.name ?? '',
    value: value ?? 0,
    preemptionPolicy: preemptionPolicy ?? defaultPolicy,
  };
}

function check(
  spec: PodSpec,
  priority: Priority,
  comparesPolicy: boolean,
  target: AdmissionTarget,
): void {
  if (spec.priority !== undefined && spec.priority !== priority.value) {
    throw forbiddenTarget(
      target,
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${priority.value} from the given PriorityClass name`,
    );
  }
  const policy = spec.preemptionPolicy;
  if (comparesPolicy && policy !== undefined && policy !== priority.preemptionPolicy) {
    throw forbiddenTarget(
      target,
      `the string value of PreemptionPolicy (${policy}) must not be provided in pod spec; priority admission controller computed ${priority.preemptionPolicy} from the given PriorityClass name`,
    );
  }
}
