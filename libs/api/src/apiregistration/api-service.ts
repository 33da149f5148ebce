/**
 * APIService: the server of a group version, either this server or another one behind a service.
 */
import {
  checkDns1035Label,
  checkDns1123Subdomain,
  checkPortNumber,
  conditionOf,
  type FieldError,
  fieldError,
  path,
} from '@orch/apimachinery';
import type { APIService, APIServiceSpec } from '@orch/types/apiregistration/v1';
import { define } from '../definition.js';
import { ageColumn, nameColumn } from '../shared/columns.js';
import { pathSegmentName } from '../shared/path-segment.js';
import { checkOneOf, checkRequired, invalidEach } from '../shared/rules.js';
import { availabilityCondition, localAvailability } from './availability.js';

const groupPriorityMax = 20_000;
const versionPriorityMax = 1_000;

function validateApiService(object: APIService): FieldError[] {
  const spec: Partial<APIServiceSpec> = object.spec ?? {};
  const { group = '', version = '', groupPriorityMinimum = 0, versionPriority = 0 } = spec;
  const fieldPath = path('spec');
  const errors: FieldError[] = [];
  if (group === '' && version !== 'v1') {
    errors.push(
      fieldError.required(
        fieldPath.child('group'),
        'only v1 may have an empty group and it better be legacy kube',
      ),
    );
  }
  if (group !== '') {
    errors.push(...invalidEach(fieldPath.child('group'), group, checkDns1123Subdomain(group)));
  }
  errors.push(...invalidEach(fieldPath.child('version'), version, checkDns1035Label(version)));
  if (groupPriorityMinimum <= 0 || groupPriorityMinimum > groupPriorityMax) {
    errors.push(
      fieldError.invalid(
        fieldPath.child('groupPriorityMinimum'),
        groupPriorityMinimum,
        `must be positive and less than ${groupPriorityMax}`,
      ),
    );
  }
  if (versionPriority <= 0 || versionPriority > versionPriorityMax) {
    errors.push(
      fieldError.invalid(
        fieldPath.child('versionPriority'),
        versionPriority,
        `must be positive and less than ${versionPriorityMax}`,
      ),
    );
  }
  return [...errors, ...validateServer(spec)];
}

/** The name must match the group and version. */
function validateName(name: string, prefix: boolean, { spec }: APIService): readonly string[] {
  const messages = pathSegmentName(name, prefix);
  const required = `${spec?.version ?? ''}.${spec?.group ?? ''}`;
  return messages.length > 0 || name === required
    ? messages
    : [`must be \`spec.version+"."+spec.group\`: ${JSON.stringify(required)}`];
}

function validateServer(spec: Partial<APIServiceSpec>): FieldError[] {
  const { service, caBundle = '', insecureSkipTLSVerify = false } = spec;
  const fieldPath = path('spec');
  const errors: FieldError[] = [];
  if (!service) {
    if (caBundle !== '') {
      const size = `${Buffer.from(caBundle, 'base64').length} bytes`;
      errors.push(
        fieldError.invalid(
          fieldPath.child('caBundle'),
          size,
          'local APIServices may not have a caBundle',
        ),
      );
    }
    if (insecureSkipTLSVerify) {
      errors.push(
        fieldError.invalid(
          fieldPath.child('insecureSkipTLSVerify'),
          insecureSkipTLSVerify,
          'local APIServices may not have insecureSkipTLSVerify',
        ),
      );
    }
    return errors;
  }
  const { namespace, name, port = 0 } = service;
  const portMessages = checkPortNumber(port).map((message) => `port is not valid: ${message}`);
  errors.push(
    ...checkRequired(namespace, fieldPath.child('service', 'namespace')),
    ...checkRequired(name, fieldPath.child('service', 'name')),
    ...invalidEach(fieldPath.child('service', 'port'), port, portMessages),
  );
  if (insecureSkipTLSVerify && caBundle !== '') {
    errors.push(
      fieldError.invalid(
        fieldPath.child('insecureSkipTLSVerify'),
        insecureSkipTLSVerify,
        'may not be true if caBundle is present',
      ),
    );
  }
  return errors;
}

function availableCell({ status }: APIService): string {
  const condition = conditionOf(status?.conditions, 'Available');
  if (!condition) return 'Unknown';
  return condition.status === 'True'
    ? condition.status
    : `${condition.status} (${condition.reason ?? ''})`;
}

export const apiServiceKind = define<APIService>({
  plural: 'apiservices',
  singular: '',
  kind: 'APIService',
  categories: ['api-extensions'],
  namespaced: false,
  versions: [
    { group: 'apiregistration', version: 'v1' },
    {
      group: 'apiregistration',
      version: 'v1beta1',
      deprecation: {
        since: '1.19',
        unavailableFrom: '1.22',
        use: { group: 'apiregistration', version: 'v1', kind: 'APIService' },
      },
    },
  ],
  stored: { group: 'apiregistration', version: 'v1' },
  validateName,
  strictFinalizers: false,
  unconditionalUpdate: false,

  prepareForCreate(object, { now }) {
    object.status = {};
    if (object.spec?.service) return;
    const condition = availabilityCondition(object, localAvailability, now);
    if (condition) object.status.conditions = [condition];
  },
  prepareForUpdate(object, old) {
    object.status = old.status;
  },
  validate: validateApiService,

  status: {
    resetFields: ['spec', 'metadata'],
    prepareForUpdate(object, old) {
      object.spec = old.spec;
      const { labels, annotations, finalizers, ownerReferences } = old.metadata ?? {};
      object.metadata = { ...object.metadata, labels, annotations, finalizers, ownerReferences };
    },
    validateUpdate: ({ status }) =>
      (status?.conditions ?? []).flatMap((condition, index) =>
        checkOneOf(
          condition.status,
          ['True', 'False', 'Unknown'],
          path('status', 'conditions').index(index).child('status'),
        ),
      ),
  },

  columns: [
    nameColumn(),
    {
      name: 'Service',
      type: 'string',
      description: 'Service that serves the version, or Local.',
      cell: ({ spec }) =>
        spec?.service ? `${spec.service.namespace ?? ''}/${spec.service.name ?? ''}` : 'Local',
    },
    {
      name: 'Available',
      type: 'string',
      description: 'Whether the service is available.',
      cell: availableCell,
    },
    ageColumn(),
  ],
});
