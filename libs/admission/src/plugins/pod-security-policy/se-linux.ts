/** SELinux labels of the pod and its containers. */
import { type FieldError, type FieldPath, fieldError, path } from '@orch/apimachinery';
import type { SELinuxOptions } from '@orch/types/core/v1';
import { effectiveContext, setContext, setPodContext } from './pod-containers.js';
import type {
  ContainerMutator,
  ContainerValidator,
  PodMutator,
  PodValidator,
  PolicyView,
} from './policy-strategy.js';

export const mutatePodLabels: PodMutator = (policy, pod) => {
  const required = requiredLabels(policy);
  if (!required || pod.spec?.securityContext?.seLinuxOptions) return;
  setPodContext(pod, { seLinuxOptions: { ...required } });
};

export const mutateContainerLabels: ContainerMutator = (policy, pod, container) => {
  const required = requiredLabels(policy);
  if (!required || effectiveContext(pod, container).seLinuxOptions) return;
  setContext(container, { seLinuxOptions: { ...required } });
};

export const validatePodLabels: PodValidator = (policy, pod) => {
  const labels = pod.spec?.securityContext?.seLinuxOptions;
  return checkLabels(policy, labels, path('spec', 'securityContext', 'seLinuxOptions'));
};

export const validateContainerLabels: ContainerValidator = (policy, pod, container, fieldPath) => {
  const { seLinuxOptions } = effectiveContext(pod, container);
  return checkLabels(policy, seLinuxOptions, fieldPath.child('securityContext', 'seLinuxOptions'));
};

function requiredLabels({ spec }: PolicyView): SELinuxOptions | undefined {
  return spec.seLinux?.rule === 'MustRunAs' ? (spec.seLinux.seLinuxOptions ?? {}) : undefined;
}

function checkLabels(
  policy: PolicyView,
  labels: SELinuxOptions | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  const required = requiredLabels(policy);
  if (!required) return [];
  if (!labels) return [fieldError.required(fieldPath)];
  return (['level', 'role', 'type', 'user'] as const).flatMap((name) => {
    const wanted = required[name] ?? '';
    const given = labels[name] ?? '';
    const isEqual = name === 'level' ? isSameLevel(wanted, given) : wanted === given;
    return isEqual ? [] : [fieldError.invalid(fieldPath.child(name), given, `must be ${wanted}`)];
  });
}

/** The order of the categories does not matter: `s0:c6,c0` is `s0:c0,c6`. */
function isSameLevel(left: string, right: string): boolean {
  return left === right || (left.includes(':') && sortedLevel(left) === sortedLevel(right));
}

function sortedLevel(level: string): string {
  const colon = level.indexOf(':');
  if (colon < 0) return level;
  return `${level.slice(0, colon)}:${level
    .slice(colon + 1)
    .split(',')
    .sort()
    .join(',')}`;
}
