/** Shared parts of the access review kinds: rules, versions and conversion. */
import { deepEqual, type FieldError, fieldError, Literal, path } from '@orch/apimachinery';
import type {
  NonResourceAttributes,
  ResourceAttributes,
  SubjectAccessReviewSpec,
} from '@orch/types/authorization/v1';
import type { SubjectAccessReviewSpec as OlderSpec } from '@orch/types/authorization/v1beta1';
import type { ObjectMeta } from '@orch/types/meta/v1';
import type { ApiObject, Deprecation, ResourceDefinition, ServedVersion } from '../definition.js';

interface Question {
  readonly resourceAttributes?: ResourceAttributes;
  readonly nonResourceAttributes?: NonResourceAttributes;
}

/** Validates the attributes: either a resource or a path. */
export function validateQuestion(spec: Question): FieldError[] {
  const { resourceAttributes, nonResourceAttributes } = spec;
  if (resourceAttributes && nonResourceAttributes) {
    return [
      fieldError.invalid(
        path('spec', 'nonResourceAttributes'),
        nonResourceAttributes,
        'cannot be specified in combination with resourceAttributes',
      ),
    ];
  }
  if (resourceAttributes || nonResourceAttributes) return [];
  return [
    fieldError.invalid(
      path('spec', 'resourceAttributes'),
      new Literal('"null"'),
      'exactly one of nonResourceAttributes or resourceAttributes must be specified',
    ),
  ];
}

/** Validates the subject: a user or groups. */
export function validateSubject({ user = '', groups = [] }: SubjectAccessReviewSpec): FieldError[] {
  if (user !== '' || groups.length > 0) return [];
  return [
    fieldError.invalid(
      path('spec', 'user'),
      user,
      'at least one of user or group must be specified',
    ),
  ];
}

/** Reviews have no metadata, except the fields in `allowed`. */
export function validateNoMetadata(
  metadata: ObjectMeta,
  allowed: readonly (keyof ObjectMeta)[],
  message: string,
): FieldError[] {
  const rest = { ...metadata };
  for (const field of ['managedFields', ...allowed] as const) delete rest[field];
  const empty = Object.values(rest).every(
    (value) => value === undefined || value === '' || deepEqual(value, {}) || deepEqual(value, []),
  );
  return empty ? [] : [fieldError.invalid(path('metadata'), metadata, message)];
}

function deprecation(kind: string): Deprecation {
  return {
    since: '1.19',
    unavailableFrom: '1.22',
    use: { group: 'authorization', version: 'v1', kind },
  };
}

/** The shared definition of the group's kinds; `older`: the differences of the beta version. */
export function reviewOf<T extends ApiObject>(
  kind: string,
  older: Pick<ServedVersion<T>, 'toStored' | 'fromStored'> = {},
): Pick<
  ResourceDefinition<T>,
  'plural' | 'singular' | 'kind' | 'verbs' | 'virtual' | 'versions' | 'stored' | 'columns'
> {
  return {
    plural: `${kind.toLowerCase()}s`,
    singular: '',
    kind,
    verbs: ['create'],
    virtual: true,
    versions: [
      { group: 'authorization', version: 'v1' },
      { group: 'authorization', version: 'v1beta1', deprecation: deprecation(kind), ...older },
    ],
    stored: { group: 'authorization', version: 'v1' },
    columns: [],
  };
}

interface SubjectReview extends ApiObject {
  spec: SubjectAccessReviewSpec;
}

interface OlderSubjectReview extends ApiObject {
  spec: OlderSpec;
}

/** The beta version names the field `group`, not `groups`. */
export function groupsToStored(object: OlderSubjectReview): SubjectReview {
  const { group, ...spec } = object.spec;
  return { ...object, spec: { ...spec, ...(group && { groups: group }) } };
}

export function groupsFromStored(object: SubjectReview): OlderSubjectReview {
  const { groups, ...spec } = object.spec;
  return { ...object, spec: { ...spec, ...(groups && { group: groups }) } };
}
