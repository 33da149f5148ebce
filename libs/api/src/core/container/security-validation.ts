/** Validates the security contexts of pods and containers. */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import type {
  Container,
  PodSecurityContext,
  PodSpec,
  SeccompProfile,
  SecurityContext,
  WindowsSecurityContextOptions,
} from '@orch/types/core/v1';
import { checkOneOf, checkRange } from '../../shared/rules.js';
import { validateLocalDescendingPath } from '../common/path-rules.js';
import { validateWindowsOptions } from './windows-validation.js';

const idMax = 2 ** 31 - 1;
const sysctlPattern = '([a-z0-9]([-_a-z0-9]*[a-z0-9])?\\.)*[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const sysctlName = new RegExp(`^${sysctlPattern}$`);
export const sysctlLengthMax = 253;

export function validateSecurityContext(
  context: SecurityContext | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  if (!context) return [];
  const errors = [
    ...checkRange(context.runAsUser, 0, idMax, fieldPath.child('runAsUser')),
    ...checkRange(context.runAsGroup, 0, idMax, fieldPath.child('runAsGroup')),
  ];
  if (context.procMount !== undefined) {
    errors.push(
      ...checkOneOf(context.procMount, ['Default', 'Unmasked'], fieldPath.child('procMount')),
    );
  }
  errors.push(...validateSeccomp(context.seccompProfile, fieldPath.child('seccompProfile')));
  if (context.allowPrivilegeEscalation === false) {
    if (context.privileged) {
      errors.push(
        fieldError.invalid(
          fieldPath,
          context,
          'cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
        ),
      );
    }
    if (context.capabilities?.add?.includes('CAP_SYS_ADMIN')) {
      errors.push(
        fieldError.invalid(
          fieldPath,
          context,
          'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN',
        ),
      );
    }
  }
  errors.push(...validateWindows(context.windowsOptions, fieldPath));
  return errors;
}

function validateWindows(
  options: WindowsSecurityContextOptions | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  return options ? validateWindowsOptions(options, fieldPath.child('windowsOptions')) : [];
}

function validateSeccomp(profile: SeccompProfile | undefined, fieldPath: FieldPath): FieldError[] {
  if (!profile) return [];
  const errors = profile.type
    ? checkOneOf(
        profile.type,
        ['Localhost', 'RuntimeDefault', 'Unconfined'],
        fieldPath.child('type'),
      )
    : [fieldError.required(fieldPath.child('type'), 'type is required when seccompProfile is set')];
  const local = profile.localhostProfile;
  const field = fieldPath.child('localhostProfile');
  if (profile.type !== 'Localhost') {
    if (local !== undefined) {
      errors.push(
        fieldError.invalid(field, local, 'can only be set when seccomp type is Localhost'),
      );
    }
  } else if (local === undefined) {
    errors.push(fieldError.required(field, 'must be set when seccomp type is Localhost'));
  } else errors.push(...validateLocalDescendingPath(local, field));
  return errors;
}

/** `at`: path of the security context; `specAt`: path of the pod's spec. */
export function validatePodSecurityContext(
  context: PodSecurityContext | undefined,
  spec: PodSpec,
  fieldPath: FieldPath,
  specAt: FieldPath,
): FieldError[] {
  if (!context) return [];
  const errors: FieldError[] = [];
  if (spec.hostNetwork) errors.push(...validateHostPorts(spec.containers ?? [], specAt));
  errors.push(
    ...checkRange(context.fsGroup, 0, idMax, fieldPath.child('fsGroup')),
    ...checkRange(context.runAsUser, 0, idMax, fieldPath.child('runAsUser')),
    ...checkRange(context.runAsGroup, 0, idMax, fieldPath.child('runAsGroup')),
  );
  for (const [index, group] of (context.supplementalGroups ?? []).entries()) {
    errors.push(...checkRange(group, 0, idMax, fieldPath.child('supplementalGroups').index(index)));
  }
  if (spec.shareProcessNamespace && spec.hostPID) {
    errors.push(
      fieldError.invalid(
        fieldPath.child('shareProcessNamespace'),
        true,
        'ShareProcessNamespace and HostPID cannot both be enabled',
      ),
    );
  }
  errors.push(...validateSysctls(context, fieldPath.child('sysctls')));
  if (context.fsGroupChangePolicy !== undefined) {
    errors.push(
      ...checkOneOf(
        context.fsGroupChangePolicy,
        ['Always', 'OnRootMismatch'],
        fieldPath.child('fsGroupChangePolicy'),
      ),
    );
  }
  errors.push(...validateSeccomp(context.seccompProfile, fieldPath.child('seccompProfile')));
  errors.push(...validateWindows(context.windowsOptions, fieldPath));
  return errors;
}

function validateHostPorts(containers: readonly Container[], specAt: FieldPath): FieldError[] {
  return containers.flatMap((container, index) =>
    (container.ports ?? []).flatMap((port, portIndex) =>
      port.hostPort === port.containerPort
        ? []
        : [
            fieldError.invalid(
              specAt
                .child('containers')
                .index(index)
                .child('ports')
                .index(portIndex)
                .child('containerPort'),
              port.containerPort,
              'must match `hostPort` when `hostNetwork` is true',
            ),
          ],
    ),
  );
}

function validateSysctls(context: PodSecurityContext, fieldPath: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, { name }] of (context.sysctls ?? []).entries()) {
    const field = fieldPath.index(index).child('name');
    if (!name) errors.push(fieldError.required(field));
    else if (name.length > sysctlLengthMax || !sysctlName.test(name)) {
      errors.push(
        fieldError.invalid(
          field,
          name,
          `must have at most ${sysctlLengthMax} characters and match regex ${sysctlPattern}`,
        ),
      );
    } else if (seen.has(name)) errors.push(fieldError.duplicate(field, name));
    seen.add(name);
  }
  return errors;
}
