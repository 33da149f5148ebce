/** AppArmor profiles: the annotations of the policy name the default one and the allowed ones. */
import { appArmorPrefix } from '@orch/api';
import { fieldError, path, quote } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { ContainerMutator, ContainerValidator } from './policy-strategy.js';

export const mutateAppArmor: ContainerMutator = (policy, pod, { name }) => {
  const profile = policy.annotations[dialect().key('defaultProfileName', 'apparmor.security.beta')];
  const key = `${appArmorPrefix()}${name}`;
  if (!profile || pod.metadata?.annotations?.[key]) return;
  pod.metadata ??= {};
  pod.metadata.annotations = { ...pod.metadata.annotations, [key]: profile };
};

export const validateAppArmor: ContainerValidator = (policy, pod, { name }) => {
  const allowed =
    policy.annotations[dialect().key('allowedProfileNames', 'apparmor.security.beta')];
  if (allowed === undefined) return [];
  const key = `${appArmorPrefix()}${name}`;
  const fieldPath = path('pod', 'metadata', 'annotations').key(key);
  const profile = pod.metadata?.annotations?.[key] ?? '';
  if (profile === '') return [fieldError.forbidden(fieldPath, 'AppArmor profile must be set')];
  if (allowed.split(',').includes(profile)) return [];
  const message = `${profile} is not an allowed profile. Allowed values: ${quote(allowed)}`;
  return [fieldError.forbidden(fieldPath, message)];
};
