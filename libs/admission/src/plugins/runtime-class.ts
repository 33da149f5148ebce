/**
 * Applies the runtime class of a pod: its overhead and its scheduling constraints. If the pod sets
 * an overhead, it must equal that of the class.
 */
import { type StatusError, semanticallyEqual } from '@orch/apimachinery';
import type { Pod, PodSpec } from '@orch/types/core/v1';
import type { RuntimeClass, Scheduling } from '@orch/types/node/v1';
import {
  type AdmissionContext,
  type AdmissionTarget,
  forbiddenTarget,
  type WriteRule,
  type WriteTarget,
} from '../rule.js';

function refuse(target: AdmissionTarget, cause: string): StatusError {
  return forbiddenTarget(target, `pod rejected: ${cause}`);
}

/** The class of the pod; undefined if it has none. Throws 403 if the class does not exist. */
async function classOf(
  target: WriteTarget<Pod>,
  { reader }: AdmissionContext,
): Promise<RuntimeClass | undefined> {
  const name = target.object.spec?.runtimeClassName;
  if (name === undefined) return undefined;
  const found = await reader.get('node', 'runtimeclasses', '', name);
  if (!found) throw refuse(target, `RuntimeClass ${JSON.stringify(name)} not found`);
  return found;
}

const differs = "Pod's Overhead doesn't match RuntimeClass's defined Overhead";

function applyOverhead(target: AdmissionTarget, spec: PodSpec, { overhead }: RuntimeClass): void {
  if (!overhead?.podFixed) return;
  if (spec.overhead && !semanticallyEqual(spec.overhead, overhead.podFixed)) {
    throw refuse(target, differs);
  }
  spec.overhead = { ...overhead.podFixed };
}

/** Merges the node selector and the tolerations of the class into the pod. */
function applyScheduling(target: AdmissionTarget, spec: PodSpec, scheduling: Scheduling): void {
  const selector = { ...spec.nodeSelector };
  for (const [key, value] of Object.entries(scheduling.nodeSelector ?? {})) {
    if (selector[key] !== undefined && selector[key] !== value) {
      throw refuse(
        target,
        `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${selector[key]}`,
      );
    }
    selector[key] = value;
  }
  if (Object.keys(selector).length > 0) spec.nodeSelector = selector;
  const tolerations = spec.tolerations ?? [];
  const added = (scheduling.tolerations ?? []).filter(
    (toleration) => !tolerations.some((held) => semanticallyEqual(held, toleration)),
  );
  if (added.length > 0) spec.tolerations = [...tolerations, ...structuredClone(added)];
}

export const runtimeClass: WriteRule<'core/pods'> = {
  name: 'RuntimeClass',
  isDefault: true,
  kinds: ['core/pods'],
  operations: ['CREATE'],
  subresource: '',

  async mutate(target, context) {
    const runtimeClass = await classOf(target, context);
    const { spec } = target.object;
    if (!runtimeClass || !spec) return;
    applyOverhead(target, spec, runtimeClass);
    if (runtimeClass.scheduling) applyScheduling(target, spec, runtimeClass.scheduling);
  },

  async validate(target, context) {
    const overhead = target.object.spec?.overhead;
    if (overhead === undefined) return;
    const runtimeClass = await classOf(target, context);
    if (!runtimeClass?.overhead?.podFixed) {
      throw refuse(target, 'Pod Overhead set without corresponding RuntimeClass defined Overhead');
    }
    if (!semanticallyEqual(overhead, runtimeClass.overhead.podFixed)) throw refuse(target, differs);
  },
};
