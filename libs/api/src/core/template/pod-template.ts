/**
 * Pod templates of workload kinds: their validation, also against a selector, and their columns.
 */
import {
  type FieldError,
  type FieldPath,
  fieldError,
  labelSelectorFromObject,
  SelectorError,
  stringMap,
  validateAnnotations,
  validateLabelSelector,
  validateLabels,
} from '@orch/apimachinery';
import type { PodSpec, PodTemplateSpec } from '@orch/types/core/v1';
import type { LabelSelector } from '@orch/types/meta/v1';
import type { ApiObject, TableColumn } from '../../definition.js';
import { textOrNone } from '../../shared/columns.js';
import { selectorMatches } from '../../shared/rules.js';
import { validatePodAnnotations } from '../pod/pod-annotations.js';
import { setPodSpecDefaults } from '../pod/pod-defaults.js';
import { validatePodSpec } from '../pod/pod-spec-validation.js';
import { validateSeccompAgreement } from '../pod/seccomp.js';

/** The spec of an empty template. */
export const emptyPodSpec: PodSpec = { restartPolicy: 'Always', dnsPolicy: 'ClusterFirst' };

export function setPodTemplateDefaults(template: PodTemplateSpec | undefined): void {
  if (template?.spec) setPodSpecDefaults(template.spec);
}

export function validatePodTemplate(
  template: PodTemplateSpec | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  const spec = template?.spec ?? emptyPodSpec;
  return [
    ...validateLabels(template?.metadata?.labels, fieldPath.child('labels')),
    ...validateAnnotations(template?.metadata?.annotations, fieldPath.child('annotations')),
    ...validatePodAnnotations(
      template?.metadata?.annotations,
      spec,
      fieldPath.child('annotations'),
    ),
    ...validatePodSpec(spec, { podName: '' }, fieldPath.child('spec')),
    ...validateSeccompAgreement(template?.metadata?.annotations, spec, fieldPath.child('spec')),
    ...(spec.ephemeralContainers?.length
      ? [
          fieldError.forbidden(
            fieldPath.child('spec', 'ephemeralContainers'),
            'ephemeral containers not allowed in pod template',
          ),
        ]
      : []),
  ];
}

/**
 * Validates a selector and the template that it must select, for kinds whose pods always restart.
 */
export function validateSelectedTemplate(
  selector: LabelSelector | undefined,
  template: PodTemplateSpec | undefined,
  kindText: string,
  replicas: number,
  fieldPath: FieldPath,
): FieldError[] {
  const errors = validateSelector(selector, kindText, fieldPath.child('selector'));
  // An invalid selector makes the remaining rules meaningless.
  if (isBrokenSelector(selector)) return errors;
  const templateAt = fieldPath.child('template');
  errors.push(
    ...validateTemplateLabels(selector, template, templateAt),
    ...validatePodTemplate(template, templateAt),
  );
  const spec = template?.spec;
  if (replicas > 1) errors.push(...validateSharedDisks(spec, templateAt.child('spec')));
  return [...errors, ...validateEndlessPods(spec, 'ReplicaSet', templateAt.child('spec'))];
}

/** A non-empty selector must match the labels of the template. */
export function validateTemplateLabels(
  selector: LabelSelector | undefined,
  template: PodTemplateSpec | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  const labels = template?.metadata?.labels;
  return selectorMatches(selector, labels) || isEmptySelector(selector)
    ? []
    : [labelsMismatch(labels, fieldPath)];
}

export function labelsMismatch(
  labels: Readonly<Record<string, string>> | undefined,
  fieldPath: FieldPath,
): FieldError {
  return fieldError.invalid(
    fieldPath.child('metadata', 'labels'),
    stringMap(labels),
    '`selector` does not match template `labels`',
  );
}

/** Pods that run permanently must always restart and must have no deadline. */
export function validateEndlessPods(
  spec: PodSpec | undefined,
  kind: string,
  fieldPath: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  const policy = spec?.restartPolicy ?? 'Always';
  if (policy !== 'Always') {
    errors.push(fieldError.notSupported(fieldPath.child('restartPolicy'), policy, ['Always']));
  }
  if (spec?.activeDeadlineSeconds !== undefined) {
    errors.push(
      fieldError.forbidden(
        fieldPath.child('activeDeadlineSeconds'),
        `activeDeadlineSeconds in ${kind} is not Supported`,
      ),
    );
  }
  return errors;
}

/** A read-write disk can only be attached to one machine. */
export function validateSharedDisks(spec: PodSpec | undefined, fieldPath: FieldPath): FieldError[] {
  return (spec?.volumes ?? []).flatMap(({ gcePersistentDisk }, index) =>
    gcePersistentDisk && !gcePersistentDisk.readOnly
      ? [
          fieldError.invalid(
            fieldPath.child('volumes').index(index).child('gcePersistentDisk', 'readOnly'),
            false,
            'must be true for replicated pods > 1; GCE PD can only be mounted on multiple machines if it is read-only',
          ),
        ]
      : [],
  );
}

export function validateSelector(
  selector: LabelSelector | undefined,
  kindText: string,
  fieldPath: FieldPath,
  brokenText = 'invalid label selector',
): FieldError[] {
  if (!selector) return [fieldError.required(fieldPath)];
  const errors = validateLabelSelector(selector, fieldPath);
  if (isEmptySelector(selector)) {
    errors.push(
      fieldError.invalid(fieldPath, selector, `empty selector is invalid for ${kindText}`),
    );
  } else if (isBrokenSelector(selector)) {
    errors.push(fieldError.invalid(fieldPath, selector, brokenText));
  }
  return errors;
}

export function isEmptySelector(selector: LabelSelector | undefined): boolean {
  if (!selector) return false;
  return (
    Object.keys(selector.matchLabels ?? {}).length === 0 &&
    (selector.matchExpressions?.length ?? 0) === 0
  );
}

export function isBrokenSelector(selector: LabelSelector | undefined): boolean {
  try {
    labelSelectorFromObject(selector);
    return false;
  } catch (error) {
    if (error instanceof SelectorError) return true;
    throw error;
  }
}

/** Columns with the names and images of the containers of a template. */
export function templateColumns<T extends ApiObject>(
  templateOf: (object: T) => PodTemplateSpec | undefined,
  priority = 1,
): TableColumn<T>[] {
  const containers = (object: T) => templateOf(object)?.spec?.containers ?? [];
  return [
    {
      name: 'Containers',
      type: 'string',
      priority,
      description: 'Names of the containers in the template.',
      cell: (object) =>
        containers(object)
          .map(({ name }) => name)
          .join(','),
    },
    {
      name: 'Images',
      type: 'string',
      priority,
      description: 'Images of the containers in the template.',
      cell: (object) =>
        containers(object)
          .map(({ image }) => image ?? '')
          .join(','),
    },
  ];
}

export function selectorColumn<T extends ApiObject>(
  selectorOf: (object: T) => LabelSelector | undefined,
): TableColumn<T> {
  return {
    name: 'Selector',
    type: 'string',
    priority: 1,
    description: 'Label selector of the pods.',
    cell: (object) => selectorText(selectorOf(object)),
  };
}

/** The selector in query form; `<none>` if it is empty or invalid. */
export function selectorText(selector: LabelSelector | undefined): string {
  try {
    return textOrNone(labelSelectorFromObject(selector).toString());
  } catch (error) {
    if (error instanceof SelectorError) return '<error>';
    throw error;
  }
}
