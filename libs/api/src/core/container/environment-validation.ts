/** Validates environment variables and references to fields, resources, config maps and secrets. */
import {
  checkConfigMapKey,
  checkEnvVarName,
  checkQualifiedName,
  type FieldError,
  type FieldPath,
  fieldError,
  subdomainName,
} from '@orch/apimachinery';
import type {
  EnvFromSource,
  EnvVar,
  EnvVarSource,
  ObjectFieldSelector,
  ResourceFieldSelector,
} from '@orch/types/core/v1';
import { checkOneOf, checkRequired, invalidEach } from '../../shared/rules.js';
import { validateDivisor } from '../resources/resource-rules.js';

const environmentFields = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.podIP',
  'status.podIPs',
];

/** Fields of a pod that can be referenced; some places allow fewer. */
const knownFields: ReadonlySet<string> = new Set([
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.schedulerName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.phase',
  'status.podIP',
  'status.podIPs',
]);

const resourceFields = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];

export function validateEnvironment(
  variables: readonly EnvVar[] | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  return (variables ?? []).flatMap((variable, index) => {
    const field = fieldPath.index(index);
    return [
      ...checkRequired(variable.name, field.child('name'), checkEnvVarName),
      ...(variable.valueFrom
        ? validateValueFrom(variable, variable.valueFrom, field.child('valueFrom'))
        : []),
    ];
  });
}

function validateValueFrom(
  variable: EnvVar,
  source: EnvVarSource,
  fieldPath: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = source;
  if (fieldRef) {
    errors.push(
      ...validateFieldReference(fieldRef, environmentFields, fieldPath.child('fieldRef')),
    );
  }
  if (resourceFieldRef) {
    errors.push(
      ...validateResourceReference(resourceFieldRef, false, fieldPath.child('resourceFieldRef')),
    );
  }
  if (configMapKeyRef) {
    errors.push(...validateKeyReference(configMapKeyRef, fieldPath.child('configMapKeyRef')));
  }
  if (secretKeyRef)
    errors.push(...validateKeyReference(secretKeyRef, fieldPath.child('secretKeyRef')));
  const sourceCount = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef].filter(
    (source) => source !== undefined,
  ).length;
  if (sourceCount === 0) {
    errors.push(
      fieldError.invalid(
        fieldPath,
        '',
        'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`',
      ),
    );
  } else if (variable.value) {
    errors.push(
      fieldError.invalid(fieldPath, '', 'may not be specified when `value` is not empty'),
    );
  } else if (sourceCount > 1) {
    errors.push(
      fieldError.invalid(fieldPath, '', 'may not have more than one field specified at a time'),
    );
  }
  return errors;
}

function validateKeyReference(
  reference: { readonly name?: string; readonly key?: string },
  fieldPath: FieldPath,
): FieldError[] {
  const name = reference.name ?? '';
  return [
    ...invalidEach(fieldPath.child('name'), name, subdomainName(name, false)),
    ...checkRequired(reference.key, fieldPath.child('key'), checkConfigMapKey),
  ];
}

/** `fields`: the fields allowed in this place, sorted. */
export function validateFieldReference(
  reference: ObjectFieldSelector,
  fields: readonly string[],
  parentPath: FieldPath,
): FieldError[] {
  if (!reference.apiVersion) return [fieldError.required(parentPath.child('apiVersion'))];
  const { fieldPath } = reference;
  if (!fieldPath) return [fieldError.required(parentPath.child('fieldPath'))];
  const { path, subscript } = splitSubscript(fieldPath);
  const problem = conversionProblem(reference.apiVersion, path, subscript);
  if (problem !== undefined) {
    return [
      fieldError.invalid(
        parentPath.child('fieldPath'),
        fieldPath,
        `error converting fieldPath: ${problem}`,
      ),
    ];
  }
  if (subscript === undefined) {
    const name = path === 'spec.host' ? 'spec.nodeName' : path;
    return fields.includes(name)
      ? []
      : [fieldError.notSupported(parentPath.child('fieldPath'), name, fields)];
  }
  if (path === 'metadata.annotations') {
    return invalidEach(parentPath, subscript, checkQualifiedName(subscript.toLowerCase()));
  }
  if (path === 'metadata.labels')
    return invalidEach(parentPath, subscript, checkQualifiedName(subscript));
  return [fieldError.invalid(parentPath, path, 'does not support subscript')];
}

function conversionProblem(
  apiVersion: string,
  path: string,
  subscript: string | undefined,
): string | undefined {
  if (apiVersion !== 'v1') return `unsupported pod version: ${apiVersion}`;
  if (subscript !== undefined) {
    return path === 'metadata.annotations' || path === 'metadata.labels'
      ? undefined
      : `field label does not support subscript: ${path}['${subscript}']`;
  }
  return knownFields.has(path) || path === 'spec.host'
    ? undefined
    : `field label not supported: ${path}`;
}

/** Splits `metadata.labels['key']` into path and subscript. */
function splitSubscript(text: string): { path: string; subscript?: string } {
  const start = text.indexOf("['");
  if (start < 1 || !text.endsWith("']")) return { path: text };
  return { path: text.slice(0, start), subscript: text.slice(start + 2, -2) };
}

export function validateResourceReference(
  reference: ResourceFieldSelector,
  containerRequired: boolean,
  fieldPath: FieldPath,
): FieldError[] {
  if (containerRequired && !reference.containerName) {
    return [fieldError.required(fieldPath.child('containerName'))];
  }
  if (!reference.resource) return [fieldError.required(fieldPath.child('resource'))];
  return [
    ...checkOneOf(reference.resource, resourceFields, fieldPath.child('resource')),
    ...validateDivisor(reference, fieldPath.child('divisor')),
  ];
}

export function validateEnvironmentSources(
  sources: readonly EnvFromSource[] | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, source] of (sources ?? []).entries()) {
    const field = fieldPath.index(index);
    if (source.prefix) {
      errors.push(
        ...invalidEach(field.child('prefix'), source.prefix, checkEnvVarName(source.prefix)),
      );
    }
    for (const name of ['configMapRef', 'secretRef'] as const) {
      const reference = source[name];
      if (!reference) continue;
      errors.push(
        ...checkRequired(reference.name, field.child(name, 'name'), (text) =>
          subdomainName(text, true),
        ),
      );
    }
    if (!source.configMapRef && !source.secretRef) {
      errors.push(
        fieldError.invalid(fieldPath, '', 'must specify one of: `configMapRef` or `secretRef`'),
      );
    } else if (source.configMapRef && source.secretRef) {
      errors.push(
        fieldError.invalid(fieldPath, '', 'may not have more than one field specified at a time'),
      );
    }
  }
  return errors;
}
