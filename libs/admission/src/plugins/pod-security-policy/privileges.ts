/** Privileges of containers: privileged mode, escalation, file system and `/proc`. */
import { type FieldError, fieldError } from '@orch/apimachinery';
import { setContext } from './pod-containers.js';
import type { ContainerMutator, ContainerValidator } from './policy-strategy.js';

const defaultProcMount = 'Default';

export const mutatePrivileges: ContainerMutator = ({ spec }, _pod, container) => {
  const { readOnlyRootFilesystem, allowPrivilegeEscalation } = container.securityContext ?? {};
  if (spec.readOnlyRootFilesystem && readOnlyRootFilesystem === undefined) {
    setContext(container, { readOnlyRootFilesystem: true });
  }
  if (allowPrivilegeEscalation !== undefined) return;
  const escalation =
    spec.defaultAllowPrivilegeEscalation ??
    (spec.allowPrivilegeEscalation === false ? false : undefined);
  if (escalation !== undefined) setContext(container, { allowPrivilegeEscalation: escalation });
};

/** Checked before the capabilities. */
export const validatePrivileged: ContainerValidator = ({ spec }, _pod, container, fieldPath) => {
  const at = fieldPath.child('securityContext');
  const { privileged, procMount = defaultProcMount } = container.securityContext ?? {};
  const errors: FieldError[] = [];
  if (privileged && !spec.privileged) {
    const message = 'Privileged containers are not allowed';
    errors.push(fieldError.invalid(at.child('privileged'), true, message));
  }
  const allowed = spec.allowedProcMountTypes?.length
    ? spec.allowedProcMountTypes
    : [defaultProcMount];
  if (!allowed.includes(procMount)) {
    const message = 'ProcMountType is not allowed';
    errors.push(fieldError.invalid(at.child('procMount'), procMount, message));
  }
  return errors;
};

/** Checked after the host ports. */
export const validateEscalation: ContainerValidator = ({ spec }, _pod, container, fieldPath) => {
  const at = fieldPath.child('securityContext');
  const { readOnlyRootFilesystem: isReadOnly, allowPrivilegeEscalation: escalates } =
    container.securityContext ?? {};
  const errors: FieldError[] = [];
  if (spec.readOnlyRootFilesystem && !isReadOnly) {
    const message =
      isReadOnly === undefined
        ? 'ReadOnlyRootFilesystem may not be nil and must be set to true'
        : 'ReadOnlyRootFilesystem must be set to true';
    errors.push(fieldError.invalid(at.child('readOnlyRootFilesystem'), isReadOnly, message));
  }
  if (spec.allowPrivilegeEscalation === false && escalates !== false) {
    const message = 'Allowing privilege escalation for containers is not allowed';
    errors.push(fieldError.invalid(at.child('allowPrivilegeEscalation'), escalates, message));
  }
  return errors;
};
