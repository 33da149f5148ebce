/**
 * A strategy: a group of fields of a policy. It fills in fields that a new pod does not set, and
 * reports fields that the policy does not allow.
 */
import type { FieldError, FieldPath } from '@orch/apimachinery';
import type { Pod } from '@orch/types/core/v1';
import type { PodSecurityPolicySpec } from '@orch/types/policy/v1beta1';
import type { PolicyContainer } from './pod-containers.js';

/** A policy as strategies see it. */
export interface PolicyView {
  readonly spec: PodSecurityPolicySpec;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Fills in fields of the pod. */
export type PodMutator = (policy: PolicyView, pod: Pod) => void;

/** Fills in fields of a container of the pod. */
export type ContainerMutator = (policy: PolicyView, pod: Pod, container: PolicyContainer) => void;

export type PodValidator = (policy: PolicyView, pod: Pod) => FieldError[];

/** `fieldPath`: of the container. */
export type ContainerValidator = (
  policy: PolicyView,
  pod: Pod,
  container: PolicyContainer,
  fieldPath: FieldPath,
) => FieldError[];
