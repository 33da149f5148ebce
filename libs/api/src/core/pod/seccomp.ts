/**
 * Seccomp profiles as fields and, for older clients, as annotations. At creation, each is derived
 * from the other if only one is set; if both are set, they must agree.
 */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { Container, Pod, PodSpec, SeccompProfile } from '@orch/types/core/v1';

const localPrefix = 'localhost/';

export function podSeccompKey(): string {
  return dialect().key('pod', 'seccomp.security.alpha');
}

export function containerSeccompKey(name: string): string {
  return dialect().key(name, 'container.seccomp.security.alpha');
}

/** The profile as the value of an annotation. */
export function seccompAnnotation(profile: SeccompProfile | undefined): string | undefined {
  switch (profile?.type) {
    case 'Unconfined':
      return 'unconfined';
    case 'RuntimeDefault':
      return 'runtime/default';
    case 'Localhost':
      return profile.localhostProfile === undefined
        ? undefined
        : `${localPrefix}${profile.localhostProfile}`;
    default:
      return undefined;
  }
}

function fromAnnotation(text: string | undefined): SeccompProfile | undefined {
  if (text === undefined) return undefined;
  if (text === 'unconfined') return { type: 'Unconfined' };
  if (text === 'runtime/default' || text === 'docker/default') return { type: 'RuntimeDefault' };
  if (!text.startsWith(localPrefix) || text === localPrefix) return undefined;
  return { type: 'Localhost', localhostProfile: text.slice(localPrefix.length) };
}

/** Mutates the pod. */
export function mirrorSeccomp(pod: Pod): void {
  const { spec } = pod;
  if (!spec) return;
  const annotations = { ...pod.metadata?.annotations };
  mirror(annotations, podSeccompKey(), spec.securityContext?.seccompProfile, (profile) => {
    spec.securityContext = { ...spec.securityContext, seccompProfile: profile };
  });
  for (const container of containersOf(spec)) {
    const key = containerSeccompKey(container.name);
    mirror(annotations, key, container.securityContext?.seccompProfile, (profile) => {
      container.securityContext = { ...container.securityContext, seccompProfile: profile };
    });
  }
  if (Object.keys(annotations).length === 0) return;
  pod.metadata ??= {};
  pod.metadata.annotations = annotations;
}

function containersOf(spec: PodSpec): Container[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
}

function mirror(
  annotations: Record<string, string>,
  key: string,
  field: SeccompProfile | undefined,
  setField: (profile: SeccompProfile) => void,
): void {
  const text = annotations[key];
  if (field) {
    const annotation = seccompAnnotation(field);
    if (text === undefined && annotation !== undefined) annotations[key] = annotation;
    return;
  }
  const profile = fromAnnotation(text);
  if (profile) setField(profile);
}

/** `at`: path of the spec. */
export function validateSeccompAgreement(
  annotations: Readonly<Record<string, string>> | undefined,
  spec: PodSpec,
  fieldPath: FieldPath,
): FieldError[] {
  if (!annotations) return [];
  const errors = disagreement(
    spec.securityContext?.seccompProfile,
    annotations[podSeccompKey()],
    fieldPath.child('securityContext', 'seccompProfile'),
  );
  for (const field of ['initContainers', 'containers'] as const) {
    for (const [index, container] of (spec[field] ?? []).entries()) {
      errors.push(
        ...disagreement(
          container.securityContext?.seccompProfile,
          annotations[containerSeccompKey(container.name)],
          fieldPath.child(field).index(index).child('securityContext', 'seccompProfile'),
        ),
      );
    }
  }
  return errors;
}

function disagreement(
  profile: SeccompProfile | undefined,
  text: string | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  if (!profile || text === undefined) return [];
  const other = fromAnnotation(text);
  if (other?.type !== profile.type) {
    return [
      fieldError.forbidden(
        fieldPath.child('type'),
        'seccomp type in annotation and field must match',
      ),
    ];
  }
  return other.localhostProfile === profile.localhostProfile
    ? []
    : [
        fieldError.forbidden(
          fieldPath.child('localhostProfile'),
          'seccomp profile in annotation and field must match',
        ),
      ];
}
