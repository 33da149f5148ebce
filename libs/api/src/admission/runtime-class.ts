/**
 * A pod may name a runtime class, which says what the pod costs beyond its containers and which nodes can
 * run it. Only a class says so: a cost that the pod brings along must be that of its class.
 */
import { type StatusError, semanticallyEqual } from '@orch/apimachinery';
import type { Pod, PodSpec } from '@orch/types/core/v1';
import type { RuntimeClass, Scheduling } from '@orch/types/node/v1';
import {
  type AdmissionContext,
  type AdmissionRule,
  type AdmissionTarget,
  isWriteOf,
  refusal,
} from './admission-rule.js';

function refuse(target: AdmissionTarget, cause: string): StatusError {
  return refusal(target, `pod rejected: ${cause}`);
}

/** The class that the pod names; undefined when it names none. Throws 403 when there is no such class. */
async function classOf(
  target: AdmissionTarget,
  { reader }: AdmissionContext,
): Promise<RuntimeClass | undefined> {
  const name = (target.object as Pod).spec?.runtimeClassName;
  if (name === undefined) return undefined;
  const found = await reader.get('node', 'runtimeclasses', '', name);
  if (!found) throw refuse(target, `RuntimeClass ${JSON.stringify(name)} not found`);
  return found as RuntimeClass;
}

const differs = "Pod's Overhead doesn't match RuntimeClass's defined Overhead";

function applyOverhead(target: AdmissionTarget, spec: PodSpec, { overhead }: RuntimeClass): void {
  if (!overhead?.podFixed) return;
  if (spec.overhead && !semanticallyEqual(spec.overhead, overhead.podFixed)) {
    throw refuse(target, differs);
  }
  spec.overhead = { ...overhead.podFixed };
}

/** The nodes of the class are among those of the pod; what the class tolerates, the pod does. */
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

export const runtimeClassRule: AdmissionRule = {
  name: 'RuntimeClass',

  async mutate(target, context) {
    if (!isWriteOf(target, 'core', 'pods', ['CREATE'])) return;
    const runtimeClass = await classOf(target, context);
    const { spec } = target.object as Pod;
    if (!runtimeClass || !spec) return;
    applyOverhead(target, spec, runtimeClass);
    if (runtimeClass.scheduling) applyScheduling(target, spec, runtimeClass.scheduling);
  },

  async validate(target, context) {
    if (!isWriteOf(target, 'core', 'pods', ['CREATE'])) return;
    const overhead = (target.object as Pod).spec?.overhead;
    if (overhead === undefined) return;
    const runtimeClass = await classOf(target, context);
    if (!runtimeClass?.overhead?.podFixed) {
      throw refuse(target, 'Pod Overhead set without corresponding RuntimeClass defined Overhead');
    }
    if (!semanticallyEqual(overhead, runtimeClass.overhead.podFixed)) throw refuse(target, differs);
  },
};
