/**
 * Pod templates, as the controllers' kinds hold them: their rules, their rules beside a selector, and the
 * columns that show them.
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
import type { ApiObject, TableColumn } from '../definition.js';
import { textOrNone } from '../shared/columns.js';
import { selectorMatches } from '../shared/rules.js';
import { validatePodAnnotations } from './pod-annotations.js';
import { setPodSpecDefaults } from './pod-defaults.js';
import { validatePodSpec } from './pod-spec-validation.js';
import { validateSeccompAgreement } from './seccomp.js';

/** Stands for the spec of a template of which nothing is said. */
export const emptyPodSpec: PodSpec = { restartPolicy: 'Always', dnsPolicy: 'ClusterFirst' };

export function setPodTemplateDefaults(template: PodTemplateSpec | undefined): void {
  if (template?.spec) setPodSpecDefaults(template.spec);
}

export function validatePodTemplate(
  template: PodTemplateSpec | undefined,
  at: FieldPath,
): FieldError[] {
  const spec = template?.spec ?? emptyPodSpec;
  return [
    ...validateLabels(template?.metadata?.labels, at.child('labels')),
    ...validateAnnotations(template?.metadata?.annotations, at.child('annotations')),
    ...validatePodAnnotations(template?.metadata?.annotations, spec, at.child('annotations')),
    ...validatePodSpec(spec, { podName: '' }, at.child('spec')),
    ...validateSeccompAgreement(template?.metadata?.annotations, spec, at.child('spec')),
    ...(spec.ephemeralContainers?.length
      ? [
          fieldError.forbidden(
            at.child('spec', 'ephemeralContainers'),
            'ephemeral containers not allowed in pod template',
          ),
        ]
      : []),
  ];
}

/** Rules of a selector and the template it must select, for kinds whose pods always restart. */
export function validateSelectedTemplate(
  selector: LabelSelector | undefined,
  template: PodTemplateSpec | undefined,
  kindText: string,
  replicas: number,
  at: FieldPath,
): FieldError[] {
  const errors = validateSelector(selector, kindText, at.child('selector'));
  // A selector that cannot be read hides the rest.
  if (isBrokenSelector(selector)) return errors;
  const templateAt = at.child('template');
  errors.push(
    ...validateTemplateLabels(selector, template, templateAt),
    ...validatePodTemplate(template, templateAt),
  );
  const spec = template?.spec;
  if (replicas > 1) errors.push(...validateSharedDisks(spec, templateAt.child('spec')));
  return [...errors, ...validateEndlessPods(spec, 'ReplicaSet', templateAt.child('spec'))];
}

/** A selector that selects anything in particular selects the pods of the template. */
export function validateTemplateLabels(
  selector: LabelSelector | undefined,
  template: PodTemplateSpec | undefined,
  at: FieldPath,
): FieldError[] {
  const labels = template?.metadata?.labels;
  return selectorMatches(selector, labels) || isEmptySelector(selector)
    ? []
    : [labelsMismatch(labels, at)];
}

export function labelsMismatch(
  labels: Readonly<Record<string, string>> | undefined,
  at: FieldPath,
): FieldError {
  return fieldError.invalid(
    at.child('metadata', 'labels'),
    stringMap(labels),
    '`selector` does not match template `labels`',
  );
}

/** Pods that are to be there all the time always restart, and have no deadline. */
export function validateEndlessPods(
  spec: PodSpec | undefined,
  kind: string,
  at: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  const policy = spec?.restartPolicy ?? 'Always';
  if (policy !== 'Always') {
    errors.push(fieldError.notSupported(at.child('restartPolicy'), policy, ['Always']));
  }
  if (spec?.activeDeadlineSeconds !== undefined) {
    errors.push(
      fieldError.forbidden(
        at.child('activeDeadlineSeconds'),
        `activeDeadlineSeconds in ${kind} is not Supported`,
      ),
    );
  }
  return errors;
}

/** A disk that is written to is on one machine only. */
export function validateSharedDisks(spec: PodSpec | undefined, at: FieldPath): FieldError[] {
  return (spec?.volumes ?? []).flatMap(({ gcePersistentDisk }, index) =>
    gcePersistentDisk && !gcePersistentDisk.readOnly
      ? [
          fieldError.invalid(
            at.child('volumes').index(index).child('gcePersistentDisk', 'readOnly'),
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
  at: FieldPath,
  brokenText = 'invalid label selector',
): FieldError[] {
  if (!selector) return [fieldError.required(at)];
  const errors = validateLabelSelector(selector, at);
  if (isEmptySelector(selector)) {
    errors.push(fieldError.invalid(at, selector, `empty selector is invalid for ${kindText}`));
  } else if (isBrokenSelector(selector)) {
    errors.push(fieldError.invalid(at, selector, brokenText));
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

/** Names and images of the containers of a template. */
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
    description: 'Labels by which it finds its pods.',
    cell: (object) => selectorText(selectorOf(object)),
  };
}

/** The query form; `<none>` for one that selects nothing or cannot be read. */
export function selectorText(selector: LabelSelector | undefined): string {
  try {
    return textOrNone(labelSelectorFromObject(selector).toString());
  } catch (error) {
    if (error instanceof SelectorError) return '<error>';
    throw error;
  }
}
