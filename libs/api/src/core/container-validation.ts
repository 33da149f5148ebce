/** Rules of the containers of a pod or of a pod template. */
import {
  checkDns1123Label,
  checkPortName,
  checkPortNumber,
  type FieldError,
  type FieldPath,
  fieldError,
} from '@orch/apimachinery';
import type { Container, ContainerPort, PodSpec } from '@orch/types/core/v1';
import { checkRequired, checkRequiredOneOf, invalidEach } from '../shared/rules.js';
import { validateEnvironment, validateEnvironmentSources } from './environment-validation.js';
import { type VolumesByName, validateDevices, validateMounts } from './mount-validation.js';
import { validateLifecycle, validateProbes } from './probe-validation.js';
import { validateResourceRequirements } from './resource-rules.js';
import { validateSecurityContext } from './security-validation.js';

export interface ContainerRules {
  readonly volumes: VolumesByName;
}

const pullPolicies = ['Always', 'IfNotPresent', 'Never'];
const protocols = ['SCTP', 'TCP', 'UDP'];

export function validateContainers(
  spec: PodSpec,
  rules: ContainerRules,
  at: FieldPath,
): FieldError[] {
  const containers = spec.containers ?? [];
  const field = at.child('containers');
  if (containers.length === 0) return [fieldError.required(field)];
  return validateContainerList(containers, rules, field);
}

/** What holds for containers of every sort that are there at the same time. */
export function validateContainerList(
  containers: readonly Container[],
  rules: ContainerRules,
  at: FieldPath,
): FieldError[] {
  return [...validateEach(containers, rules, at), ...validateHostPorts(containers, at)];
}

function validateEach(
  containers: readonly Container[],
  rules: ContainerRules,
  at: FieldPath,
): FieldError[] {
  const names = new Set<string>();
  return containers.flatMap((container, index) => [
    ...validateName(container.name, names, at.index(index)),
    ...validateContainer(container, rules, at.index(index)),
  ]);
}

/** Init containers run to their end one after the other: nothing may depend on their staying. */
export function validateInitContainers(
  spec: PodSpec,
  rules: ContainerRules,
  at: FieldPath,
): FieldError[] {
  const containers = spec.initContainers ?? [];
  const field = at.child('initContainers');
  const errors = validateEach(containers, rules, field);
  for (const container of containers) errors.push(...validateHostPorts([container], field));
  return [...errors, ...validateInitOnly(spec, field)];
}

/** What holds for init containers beyond other containers; a name taken twice is reported once more. */
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

function validateName(name: string | undefined, names: Set<string>, at: FieldPath): FieldError[] {
  const field = at.child('name');
  const errors = checkRequired(name, field, checkDns1123Label);
  const id = name ?? '';
  if (names.has(id)) errors.push(fieldError.duplicate(field, id));
  names.add(id);
  return errors;
}

function validateContainer(
  container: Container,
  rules: ContainerRules,
  at: FieldPath,
): FieldError[] {
  return [
    ...(container.image ? [] : [fieldError.required(at.child('image'))]),
    ...validateLifecycle(container, at),
    ...validateProbes(container, at),
    ...validateTerminationPolicy(container, at.child('terminationMessagePolicy')),
    ...validatePorts(container.ports ?? [], at.child('ports')),
    ...validateEnvironment(container.env, at.child('env')),
    ...validateEnvironmentSources(container.envFrom, at.child('envFrom')),
    ...validateMounts(container, rules.volumes, at.child('volumeMounts')),
    ...validateDevices(container, rules.volumes, at.child('volumeDevices')),
    ...checkRequiredOneOf(container.imagePullPolicy, pullPolicies, at.child('imagePullPolicy')),
    ...validateResourceRequirements(container.resources ?? {}, at.child('resources')),
    ...validateSecurityContext(container.securityContext, at.child('securityContext')),
  ];
}

/** Of pods alone: templates may hold what is not yet an image. */
export function validateImageSpaces(image: string, at: FieldPath): FieldError[] {
  return image.trim() === image
    ? []
    : [fieldError.invalid(at, image, 'must not have leading or trailing whitespace')];
}

function validateTerminationPolicy(container: Container, at: FieldPath): FieldError[] {
  const policy = container.terminationMessagePolicy;
  const detail = "must be 'File' or 'FallbackToLogsOnError'";
  if (!policy) return [fieldError.required(at, detail)];
  return ['File', 'FallbackToLogsOnError'].includes(policy)
    ? []
    : [fieldError.invalid(at, policy, detail)];
}

function validatePorts(ports: readonly ContainerPort[], at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const field = at.index(index);
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

/** One port of the host is taken once. */
function validateHostPorts(containers: readonly Container[], at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const taken = new Set<string>();
  for (const [index, container] of containers.entries()) {
    for (const [portIndex, port] of (container.ports ?? []).entries()) {
      if (!port.hostPort) continue;
      const id = `${port.protocol ?? ''}/${port.hostIP ?? ''}/${port.hostPort}`;
      if (taken.has(id)) {
        const field = at.index(index).child('ports').index(portIndex);
        errors.push(fieldError.duplicate(field.child('hostPort'), id));
      }
      taken.add(id);
    }
  }
  return errors;
}
