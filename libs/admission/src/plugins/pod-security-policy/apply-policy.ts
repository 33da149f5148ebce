/** A policy and a pod: fills in the pod, and lists the violations. Pure. */
import { deepCopy, type FieldError } from '@orch/apimachinery';
import type { Pod } from '@orch/types/core/v1';
import { mutateAppArmor, validateAppArmor } from './app-armor.js';
import { mutateCapabilities, validateCapabilities } from './capabilities.js';
import { validateHostNamespaces, validateHostPorts } from './host-access.js';
import { containersOf } from './pod-containers.js';
import type {
  ContainerMutator,
  ContainerValidator,
  PodMutator,
  PodValidator,
  PolicyView,
} from './policy-strategy.js';
import { mutatePrivileges, validateEscalation, validatePrivileged } from './privileges.js';
import {
  mutateGroups,
  mutateNonRoot,
  mutateRunAs,
  validateGroups,
  validateRunAs,
} from './run-as.js';
import {
  mutateContainerLabels,
  mutatePodLabels,
  validateContainerLabels,
  validatePodLabels,
} from './se-linux.js';
import { mutateSeccomp, validateContainerSeccomp, validatePodSeccomp } from './seccomp.js';
import { validateSysctls } from './sysctls.js';
import { mutateRuntimeClass, validateRuntimeClass, validateVolumes } from './volumes.js';

const podMutators: readonly PodMutator[] = [
  mutateGroups,
  mutatePodLabels,
  mutateSeccomp,
  mutateRuntimeClass,
];

const containerMutators: readonly ContainerMutator[] = [
  mutateRunAs,
  mutateContainerLabels,
  mutateAppArmor,
  mutateNonRoot,
  mutateCapabilities,
  mutatePrivileges,
];

/** In the order of the errors. */
const podValidators: readonly PodValidator[] = [
  validateGroups,
  validatePodSeccomp,
  validatePodLabels,
  validateHostNamespaces,
  validateSysctls,
  validateVolumes,
  validateRuntimeClass,
];

/** In the order of the errors. */
const containerValidators: readonly ContainerValidator[] = [
  validateRunAs,
  validateContainerLabels,
  validateAppArmor,
  validateContainerSeccomp,
  validatePrivileged,
  validateCapabilities,
  validateHostPorts,
  validateEscalation,
];

export interface AppliedPolicy {
  /** The pod with the defaults of the policy. */
  readonly pod: Pod;
  readonly errors: readonly FieldError[];
}

export function applyPolicy(policy: PolicyView, given: Pod): AppliedPolicy {
  const pod = deepCopy(given);
  for (const mutate of podMutators) mutate(policy, pod);
  for (const { container } of containersOf(pod)) {
    for (const mutate of containerMutators) mutate(policy, pod, container);
  }
  const errors = [
    ...podValidators.flatMap((validate) => validate(policy, pod)),
    ...containersOf(pod).flatMap(({ container, fieldPath }) =>
      containerValidators.flatMap((validate) => validate(policy, pod, container, fieldPath)),
    ),
  ];
  return { pod, errors };
}
