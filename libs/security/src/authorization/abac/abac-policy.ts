/**
 * A policy of the mode `ABAC`: a line of the policy file, with a spec or in the older form without
 * one. A line that has a mistake is refused, because an ignored field may grant more than its
 * author intended.
 */
import { dialect } from '@orch/component';
import { parseDocument } from 'yaml';

/** Empty texts match the empty value only; `*` matches every value of its field. */
export interface AbacPolicy {
  /** Empty: the user is not checked. */
  readonly user: string;
  /** Empty: the groups are not checked. Never `*`. */
  readonly group: string;
  /** Allows reads only. */
  readonly isReadOnly: boolean;
  readonly namespace: string;
  readonly resource: string;
  readonly apiGroup: string;
  readonly nonResourcePath: string;
}

const all = '*';
const authenticatedGroup = 'system:authenticated';
const version = 'v1beta1';
const oldFields = ['user', 'group', 'readonly', 'resource', 'namespace'] as const;
const specFields = [...oldFields, 'apiGroup', 'nonResourcePath'] as const;

type Fields = Partial<Record<(typeof specFields)[number], string | boolean>>;

/** Throws a SyntaxError or RangeError whose message describes the mistake. */
export function parseAbacPolicy(line: string): AbacPolicy {
  const object = recordOf(JSON.parse(line), 'the line');
  const [repeated] = parseDocument(line, { schema: 'json' }).errors.filter(
    ({ code }) => code === 'DUPLICATE_KEY',
  );
  if (repeated) throw new RangeError('a field is repeated');
  if (object.apiVersion === undefined && object.kind === undefined) {
    return migrated(fieldsOf(object, oldFields, ''));
  }
  const apiVersion = dialect().apiVersion('abac.authorization', version);
  if (object.apiVersion !== apiVersion || object.kind !== 'Policy') {
    throw new RangeError(`expected apiVersion ${apiVersion} and kind Policy, or neither`);
  }
  const { apiVersion: _, kind: __, spec = {}, ...others } = object;
  fieldsOf(others, [], '');
  return current(fieldsOf(recordOf(spec, 'spec'), specFields, 'spec.'));
}

function recordOf(value: unknown, name: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw new RangeError(`${name} is not an object`);
}

/** The object, if it has no other fields and all have their types. */
function fieldsOf(
  object: Readonly<Record<string, unknown>>,
  names: readonly (typeof specFields)[number][],
  prefix: string,
): Fields {
  const known: readonly string[] = names;
  for (const [name, value] of Object.entries(object)) {
    if (!known.includes(name)) throw new RangeError(`unknown field ${prefix}${name}`);
    const type = name === 'readonly' ? 'boolean' : 'string';
    if (typeof value !== type) throw new RangeError(`${prefix}${name} is not a ${type}`);
  }
  return object as Fields;
}

/** `*` as user or group means every authenticated user, so it never includes anonymous requests. */
function current(fields: Fields): AbacPolicy {
  const isEveryone = fields.user === all || fields.group === all;
  return {
    user: text(fields.user),
    group: isEveryone ? authenticatedGroup : text(fields.group),
    isReadOnly: fields.readonly === true,
    namespace: text(fields.namespace),
    resource: text(fields.resource),
    apiGroup: text(fields.apiGroup),
    nonResourcePath: text(fields.nonResourcePath),
  };
}

/** In the older form a missing field matches everything, and there are no API groups. */
function migrated(fields: Fields): AbacPolicy {
  const policy = current(fields);
  const { user, group, namespace, resource } = policy;
  return {
    ...policy,
    group: user === '' && group === '' ? authenticatedGroup : group,
    namespace: namespace || all,
    resource: resource || all,
    apiGroup: all,
    nonResourcePath: namespace === '' && resource === '' ? all : '',
  };
}

function text(value: string | boolean | undefined): string {
  return typeof value === 'string' ? value : '';
}
