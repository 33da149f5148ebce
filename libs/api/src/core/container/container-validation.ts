/** Validates the containers of a pod or a pod template. */
import {
  checkDns1123Label,
  checkPortName,
  checkPortNumber,
  type FieldError,
  type FieldPath,
  fieldError,
} from '@orch/apimachinery';
import type { Container, ContainerPort, PodSpec } from '@orch/types/core/v1';
import { checkRequired, checkRequiredOneOf, invalidEach } from '../../shared/rules.js';
import { validateResourceRequirements } from '../resources/resource-rules.js';
import { validateEnvironment, validateEnvironmentSources } from './environment-validation.js';
import { type VolumesByName, validateDevices, validateMounts } from './mount-validation.js';
import {
  validateLifecycle,
  validateLifeProbes,
  validateReadinessProbe,
} from './probe-validation.js';
import { validateSecurityContext } from './security-validation.js';

export interface ContainerRules {
  readonly volumes: VolumesByName;
}

const pullPolicies = ['Always', 'IfNotPresent', 'Never'];
const protocols = ['SCTP', 'TCP', 'UDP'];

export function validateContainers(
  spec: PodSpec,
  rules: ContainerRules,
  fieldPath: FieldPath,
): FieldError[] {
  const containers = spec.containers ?? [];
  const field = fieldPath.child('containers');
  if (containers.length === 0) return [fieldError.required(field)];
  return validateContainerList(containers, rules, field);
}

/** Rules for regular containers, which run at the same time. */
export function validateContainerList(
  containers: readonly Container[],
  rules: ContainerRules,
  fieldPath: FieldPath,
): FieldError[] {
  return [
    ...validateEach(containers, rules, fieldPath),
    ...validateHostPorts(containers, fieldPath),
  ];
}

function validateEach(
  containers: readonly Container[],
  rules: ContainerRules,
  fieldPath: FieldPath,
): FieldError[] {
  const names = new Set<string>();
  return containers.flatMap((container, index) => [
    ...validateName(container.name, names, fieldPath.index(index)),
    ...validateContainer(container, rules, fieldPath.index(index)),
  ]);
}

/**
 * Init containers run sequentially to completion: fields that need a running container are not
 * allowed.
 */
export function validateInitContainers(
  spec: PodSpec,
  rules: ContainerRules,
  fieldPath: FieldPath,
): FieldError[] {
  const containers = spec.initContainers ?? [];
  const field = fieldPath.child('initContainers');
  const errors = validateEach(containers, rules, field);
  for (const container of containers) errors.push(...validateHostPorts([container], field));
  return [...errors, ...validateInitOnly(spec, field)];
}

/** Additional rules for init containers; duplicate names are reported a second time. */
function validateInitOnly(spec: PodSpec, field: FieldPath): FieldError[] {
  const names = new Set((spec.containers ?? []).map(({ name }) => name));
  return (spec.initContainers ?? []).flatMap((container, index) => {
    const errors: FieldError[] = [];
    if (names.has(container.name)) {
      errors.push(fieldError.duplicate(field.index(index).child('name'), container.name));
    }
    if (container.name) names.add(container.name);
    for (const name of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
      if (container[name] === undefined) continue;
      errors.push(
        fieldError.invalid(
          field.index(index).child(name),
          container[name],
          'must not be set for init containers',
        ),
      );
    }
    return errors;
  });
}

function validateName(
  name: string | undefined,
  names: Set<string>,
  fieldPath: FieldPath,
): FieldError[] {
  const field = fieldPath.child('name');
  const errors = checkRequired(name, field, checkDns1123Label);
  const id = name ?? '';
  if (names.has(id)) errors.push(fieldError.duplicate(field, id));
  names.add(id);
  return errors;
}

function validateContainer(
  container: Container,
  rules: ContainerRules,
  fieldPath: FieldPath,
): FieldError[] {
  return [
    ...(container.image ? [] : [fieldError.required(fieldPath.child('image'))]),
    ...validateLifecycle(container, fieldPath),
    ...validateLifeProbes(container, fieldPath),
    ...validateTerminationPolicy(container, fieldPath.child('terminationMessagePolicy')),
    ...validateReadinessProbe(container, fieldPath),
    ...validatePorts(container.ports ?? [], fieldPath.child('ports')),
    ...validateEnvironment(container.env, fieldPath.child('env')),
    ...validateEnvironmentSources(container.envFrom, fieldPath.child('envFrom')),
    ...validateMounts(container, rules.volumes, fieldPath.child('volumeMounts')),
    ...validateDevices(container, rules.volumes, fieldPath.child('volumeDevices')),
    ...checkRequiredOneOf(
      container.imagePullPolicy,
      pullPolicies,
      fieldPath.child('imagePullPolicy'),
    ),
    ...validateResourceRequirements(container.resources ?? {}, fieldPath.child('resources')),
    ...validateSecurityContext(container.securityContext, fieldPath.child('securityContext')),
  ];
}

/** For pods only: templates may hold an image name with spaces. */
export function validateImageSpaces(image: string, fieldPath: FieldPath): FieldError[] {
  return image.trim() === image
    ? []
    : [fieldError.invalid(fieldPath, image, 'must not have leading or trailing whitespace')];
}

function validateTerminationPolicy(container: Container, fieldPath: FieldPath): FieldError[] {
  const policy = container.terminationMessagePolicy;
  const detail = "must be 'File' or 'FallbackToLogsOnError'";
  if (!policy) return [fieldError.required(fieldPath, detail)];
  return ['File', 'FallbackToLogsOnError'].includes(policy)
    ? []
    : [fieldError.invalid(fieldPath, policy, detail)];
}

function validatePorts(ports: readonly ContainerPort[], fieldPath: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const field = fieldPath.index(index);
    if (port.name) {
      const messages = checkPortName(port.name);
      errors.push(...invalidEach(field.child('name'), port.name, messages));
      if (messages.length === 0 && names.has(port.name)) {
        errors.push(fieldError.duplicate(field.child('name'), port.name));
      }
      names.add(port.name);
    }
    if (!port.containerPort) errors.push(fieldError.required(field.child('containerPort')));
    else {
      errors.push(
        ...invalidEach(
          field.child('containerPort'),
          port.containerPort,
          checkPortNumber(port.containerPort),
        ),
      );
    }
    if (port.hostPort) {
      errors.push(
        ...invalidEach(field.child('hostPort'), port.hostPort, checkPortNumber(port.hostPort)),
      );
    }
    errors.push(...checkRequiredOneOf(port.protocol, protocols, field.child('protocol')));
  }
  return errors;
}

/** Each host port may be used once. */
function validateHostPorts(containers: readonly Container[], fieldPath: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const taken = new Set<string>();
  for (const [index, container] of containers.entries()) {
    for (const [portIndex, port] of (container.ports ?? []).entries()) {
      if (!port.hostPort) continue;
      const id = `${port.protocol ?? ''}/${port.hostIP ?? ''}/${port.hostPort}`;
      if (taken.has(id)) {
        const field = fieldPath.index(index).child('ports').index(portIndex);
        errors.push(fieldError.duplicate(field.child('hostPort'), id));
      }
      taken.add(id);
    }
  }
  return errors;
}
