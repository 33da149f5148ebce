/** IngressClass: the controller that implements ingresses, and its parameters. */
import {
  checkDns1123Label,
  checkDns1123Subdomain,
  checkHttpPath,
  type FieldError,
  type FieldPath,
  fieldError,
  immutable,
  path,
  semanticallyEqual,
} from '@orch/apimachinery';
import type { Features } from '@orch/component';
import type { IngressClass, IngressClassParametersReference } from '@orch/types/networking/v1';
import { define } from '../definition.js';
import { ageColumn, nameColumn, none } from '../shared/columns.js';
import { countGeneration } from '../shared/generation.js';
import { checkOneOf, checkRequired, invalidEach } from '../shared/rules.js';
import { replacedBy } from '../shared/versions.js';
import { validateTypedReference } from './typed-reference.js';

const controllerBytesMax = 250;
const namespacedParameters = 'IngressClassNamespacedParams';

function setClassDefaults({ spec }: IngressClass, features: Features): void {
  if (spec?.parameters && features.enabled(namespacedParameters)) {
    spec.parameters.scope ??= 'Cluster';
  }
}

function validateIngressClass({ spec }: IngressClass): FieldError[] {
  const fieldPath = path('spec');
  const controller = spec?.controller ?? '';
  const controllerAt = fieldPath.child('controller');
  const errors: FieldError[] = [];
  if (Buffer.byteLength(controller) > controllerBytesMax) {
    errors.push(fieldError.tooLong(controllerAt, controllerBytesMax));
  }
  errors.push(...validatePrefixedPath(controller, controllerAt));
  const parameters = spec?.parameters;
  if (parameters) {
    const parametersAt = fieldPath.child('parameters');
    errors.push(...validateTypedReference(parameters, parametersAt));
    errors.push(...validateScope(parameters, parametersAt));
  }
  return errors;
}

function validateScope(
  { scope, namespace }: IngressClassParametersReference,
  fieldPath: FieldPath,
): FieldError[] {
  if (scope === undefined && namespace === undefined) return [];
  const errors = checkOneOf(scope ?? '', ['Cluster', 'Namespace'], fieldPath.child('scope'));
  if (errors.length > 0) return errors;
  const namespaceAt = fieldPath.child('namespace');
  if (scope === 'Namespace') {
    const missing = "`parameters.scope` is set to 'Namespace'";
    return checkRequired(namespace, namespaceAt, checkDns1123Label, missing);
  }
  return namespace === undefined
    ? []
    : [fieldError.forbidden(namespaceAt, "`parameters.scope` is set to 'Cluster'")];
}

function validatePrefixedPath(text: string, fieldPath: FieldPath): FieldError[] {
  if (text === '') return [fieldError.required(fieldPath)];
  const slash = text.indexOf('/');
  const host = text.slice(0, slash);
  const rest = text.slice(slash + 1);
  if (slash <= 0 || rest === '') {
    const detail = 'must be a domain-prefixed path (such as "acme.io/foo")';
    return [fieldError.invalid(fieldPath, text, detail)];
  }
  return [
    ...invalidEach(fieldPath, host, checkDns1123Subdomain(host)),
    ...invalidEach(fieldPath, rest, checkHttpPath(rest)),
  ];
}

function parametersCell({ spec }: IngressClass): string {
  const parameters = spec?.parameters;
  if (!parameters) return none;
  const { apiGroup, kind, name } = parameters;
  return `${apiGroup === undefined ? kind : `${kind}.${apiGroup}`}/${name}`;
}

export const ingressClass = define<IngressClass>({
  plural: 'ingressclasses',
  singular: '',
  kind: 'IngressClass',
  namespaced: false,
  versions: [
    { group: 'networking', version: 'v1', setDefaults: setClassDefaults },
    {
      group: 'networking',
      version: 'v1beta1',
      setDefaults: setClassDefaults,
      deprecation: replacedBy('networking', 'v1', 'IngressClassList', {
        since: '1.19',
        unavailableFrom: '1.22',
      }),
    },
  ],
  stored: { group: 'networking', version: 'v1' },
  hasGeneration: true,
  gatedFields: [
    { gate: namespacedParameters, path: 'spec.parameters.scope' },
    { gate: namespacedParameters, path: 'spec.parameters.namespace' },
  ],
  prepareForUpdate(object, old) {
    if (!semanticallyEqual(object.spec, old.spec)) countGeneration(object);
  },
  validate: validateIngressClass,
  updateChecks: ['metadataUpdate', 'update', 'metadata', 'object'],
  validateUpdate({ spec }, old) {
    const controller = spec?.controller ?? '';
    return controller === (old.spec?.controller ?? '')
      ? []
      : [immutable(path('spec', 'controller'), controller)];
  },
  columns: [
    nameColumn(),
    {
      name: 'Controller',
      type: 'string',
      description: 'Controller of the class.',
      cell: (object) => object.spec?.controller ?? '',
    },
    {
      name: 'Parameters',
      type: 'string',
      description: 'Object with parameters of the class.',
      cell: parametersCell,
    },
    ageColumn(),
  ],
});
