/** IngressClass: who carries out ingresses, and where its settings are. */
import {
  checkDns1123Subdomain,
  checkHttpPath,
  type FieldError,
  type FieldPath,
  fieldError,
  immutable,
  path,
  semanticallyEqual,
} from '@orch/apimachinery';
import type { IngressClass } from '@orch/types/networking/v1';
import { define } from '../definition.js';
import { ageColumn, nameColumn, none } from '../shared/columns.js';
import { countGeneration } from '../shared/generation.js';
import { invalidEach } from '../shared/rules.js';
import { replacedBy } from '../shared/versions.js';
import { validateTypedReference } from './typed-reference.js';

const controllerBytesMax = 250;

function validateIngressClass({ spec }: IngressClass): FieldError[] {
  const at = path('spec');
  const controller = spec?.controller ?? '';
  const controllerAt = at.child('controller');
  const errors: FieldError[] = [];
  if (Buffer.byteLength(controller) > controllerBytesMax) {
    errors.push(fieldError.tooLong(controllerAt, controllerBytesMax));
  }
  errors.push(...validatePrefixedPath(controller, controllerAt));
  const parameters = spec?.parameters;
  if (parameters) errors.push(...validateTypedReference(parameters, at.child('parameters')));
  return errors;
}

function validatePrefixedPath(text: string, at: FieldPath): FieldError[] {
  if (text === '') return [fieldError.required(at)];
  const slash = text.indexOf('/');
  const host = text.slice(0, slash);
  const rest = text.slice(slash + 1);
  if (slash <= 0 || rest === '') {
    const detail = 'must be a domain-prefixed path (such as "acme.io/foo")';
    return [fieldError.invalid(at, text, detail)];
  }
  return [
    ...invalidEach(at, host, checkDns1123Subdomain(host)),
    ...invalidEach(at, rest, checkHttpPath(rest)),
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
    { group: 'networking', version: 'v1' },
    {
      group: 'networking',
      version: 'v1beta1',
      deprecation: replacedBy('networking', 'v1', 'IngressClassList', {
        since: '1.19',
        unavailableFrom: '1.22',
      }),
    },
  ],
  stored: { group: 'networking', version: 'v1' },
  hasGeneration: true,
  // There are no settings in a namespace.
  gatedFields: [{ path: 'spec.parameters.scope' }, { path: 'spec.parameters.namespace' }],
  prepareForUpdate(object, old) {
    if (!semanticallyEqual(object.spec, old.spec)) countGeneration(object);
  },
  validate: validateIngressClass,
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
      description: 'Who carries out ingresses of this class.',
      cell: (object) => object.spec?.controller ?? '',
    },
    {
      name: 'Parameters',
      type: 'string',
      description: 'Object with the settings of the class.',
      cell: parametersCell,
    },
    ageColumn(),
  ],
});
