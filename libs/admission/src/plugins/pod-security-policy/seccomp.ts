/** Seccomp profiles: the annotations of the policy name the default one and the allowed ones. */
import { containerSeccompKey, podSeccompKey, seccompAnnotation } from '@orch/api';
import { type FieldError, type FieldPath, fieldError, path } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { Pod } from '@orch/types/core/v1';
import type { PolicyContainer } from './pod-containers.js';
import type {
  ContainerValidator,
  PodMutator,
  PodValidator,
  PolicyView,
} from './policy-strategy.js';

const anything = '*';
const annotations = path('pod', 'metadata', 'annotations');

/** Containers inherit the profile of the pod. */
export const mutateSeccomp: PodMutator = (policy, pod) => {
  const profile = policy.annotations[dialect().key('defaultProfileName', 'seccomp.security.alpha')];
  if (!profile || profileOfPod(pod) !== '') return;
  pod.metadata ??= {};
  pod.metadata.annotations = {
    ...pod.metadata.annotations,
    [podSeccompKey()]: currentName(profile),
  };
};

export const validatePodSeccomp: PodValidator = (policy, pod) =>
  checkProfile(policy, profileOfPod(pod), annotations.key(podSeccompKey()));

export const validateContainerSeccomp: ContainerValidator = (policy, pod, container) =>
  checkProfile(
    policy,
    profileOfContainer(pod, container) || profileOfPod(pod),
    annotations.key(containerSeccompKey(container.name)),
  );

function profileOfPod({ metadata, spec }: Pod): string {
  return (
    metadata?.annotations?.[podSeccompKey()] ||
    (seccompAnnotation(spec?.securityContext?.seccompProfile) ?? '')
  );
}

function profileOfContainer({ metadata }: Pod, { name, securityContext }: PolicyContainer): string {
  return (
    seccompAnnotation(securityContext?.seccompProfile) ??
    metadata?.annotations?.[containerSeccompKey(name)] ??
    ''
  );
}

function checkProfile(policy: PolicyView, profile: string, fieldPath: FieldPath): FieldError[] {
  const text = policy.annotations[dialect().key('allowedProfileNames', 'seccomp.security.alpha')];
  const allowed = text === undefined ? [] : text.split(',').map(currentName);
  if (allowed.includes(anything)) return [];
  if (allowed.length === 0) {
    return profile === '' ? [] : [fieldError.forbidden(fieldPath, 'seccomp may not be set')];
  }
  if (allowed.includes(currentName(profile))) return [];
  const message = `${profile} is not an allowed seccomp profile. Valid values are ${text}`;
  return [fieldError.forbidden(fieldPath, message)];
}

/** `docker/default` is the deprecated name of `runtime/default`. */
function currentName(profile: string): string {
  return profile === 'docker/default' ? 'runtime/default' : profile;
}
