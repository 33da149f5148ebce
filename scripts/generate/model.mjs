/**
 * Converts a parsed `.proto` package to descriptors (see
 * `libs/apimachinery/src/descriptors/descriptor.ts`). Rejects unknown options, missing types and
 * maps whose keys are not strings.
 */

const optionPrefix = 'orch.schema.';
const scalarKinds = new Set(['string', 'bool', 'int32', 'int64', 'double', 'bytes']);

/** `orch.api.core.v1` -> `core/v1`. */
function fileName(packageName) {
  const parts = packageName.replace(/^\.?orch\.api\./, '').split('.');
  const version = parts.pop();
  return `${parts.join('.')}/${version}`;
}

/**
 * Our options on a node: name -> list of values. Fails for names that options.proto does not
 * define.
 */
function schemaOptions(node, knownOptions) {
  const values = new Map();
  for (const entry of node.parsedOptions ?? []) {
    for (const [key, value] of Object.entries(entry)) {
      const match = /^\((.+)\)$/.exec(key);
      if (!match) continue;
      const name = match[1];
      const known = name.startsWith(optionPrefix) && knownOptions.lookup(name);
      if (!known) throw new Error(`${node.fullName}: unknown option ${name}`);
      const short = name.slice(optionPrefix.length);
      values.set(short, [...(values.get(short) ?? []), value]);
    }
  }
  return {
    one: (name) => values.get(name)?.[0],
    all: (name) => values.get(name) ?? [],
  };
}

/** Copies the entries that are present, in the given order. */
function compact(entries) {
  return Object.fromEntries(
    Object.entries(entries).filter(([, value]) => value !== undefined && value !== false),
  );
}

/** The comment of the node, as one line. */
function descriptionOf({ comment }) {
  return comment?.replace(/\s*\n\s*/g, ' ').trim();
}

function readField(field, knownOptions) {
  const options = schemaOptions(field, knownOptions);
  if (field.map && field.keyType !== 'string') throw new Error(`${field.fullName}: key not string`);
  const isAny = field.type === 'google.protobuf.Value';
  const isMessage = !isAny && !scalarKinds.has(field.type);
  if (isMessage && !field.resolvedType) throw new Error(`${field.fullName}: ${field.type} unknown`);
  const listMapKeys = options.all('list_map_keys');
  const inline = options.one('inline');
  return compact({
    name: inline ? '' : (field.options?.json_name ?? field.name),
    number: field.id,
    kind: isAny ? 'any' : isMessage ? 'message' : field.type,
    cardinality: field.map ? 'map' : field.repeated ? 'list' : undefined,
    ref: isMessage
      ? `${fileName(field.resolvedType.parent.fullName)}.${field.resolvedType.name}`
      : undefined,
    nullable: field.options?.proto3_optional,
    required: options.one('required'),
    always: options.one('always'),
    inline,
    default: options.one('default'),
    enumType: options.one('enum_type'),
    keyEnumType: options.one('key_enum_type'),
    mergeKey: options.one('merge_key'),
    mergeStrategy: options.one('merge_strategy'),
    listType: options.one('list_type'),
    listMapKeys: listMapKeys.length > 0 ? listMapKeys : undefined,
    mapType: options.one('map_type'),
    structType: options.one('struct_type'),
    description: descriptionOf(field),
  });
}

function readType(type, knownOptions) {
  const options = schemaOptions(type, knownOptions);
  const aliasOf = options.one('alias_of');
  const unions = options.all('unions');
  return compact({
    fields: aliasOf ? [] : type.fieldsArray.map((field) => readField(field, knownOptions)),
    typeMeta: options.one('type_meta'),
    kind: options.one('kind'),
    encoding: options.one('encoding'),
    aliasOf,
    lifecycle: options.one('lifecycle'),
    internal: options.one('internal'),
    jsonOnly: options.one('json_only'),
    structType: options.one('own_struct_type'),
    unions: unions.length > 0 ? unions : undefined,
    description: descriptionOf(type),
  });
}

/** The FileDescriptor of a package. */
export function readFile(namespace, knownOptions) {
  const options = schemaOptions(namespace, knownOptions);
  const types = namespace.nestedArray.filter((nested) => nested.fieldsArray);
  return compact({
    name: fileName(namespace.fullName),
    group: options.one('group'),
    version: options.one('version'),
    openapiPackage: options.one('openapi_package'),
    enums: Object.fromEntries(
      options.all('enums').map((entry) => [entry.name, [entry.values ?? []].flat()]),
    ),
    types: Object.fromEntries(types.map((type) => [type.name, readType(type, knownOptions)])),
  });
}
