/**
 * The API types by name and by kind. Descriptors are in the generated files; placeholders for the
 * dialect's identifiers are resolved when a file is first used. Read-only after that.
 */
import { dialect } from '@orch/component';
import type { FileDescriptor, TypeDescriptor, TypeName } from '../descriptors/descriptor.js';
import { files as generatedFiles } from '../generated/descriptors/index.js';

const sources = new Map(generatedFiles.map((file) => [file.name, file]));
const resolved = new Map<string, FileDescriptor>();

/** The `apiVersion` and `kind` of a kind. */
export interface KindName {
  /** Type that describes it. */
  readonly type: TypeName;
  /** Group head, see `dialect().group`. */
  readonly groupHead: string;
  readonly version: string;
  readonly kind: string;
}

/** Names of all files: `core/v1`. */
export function schemaFileNames(): readonly string[] {
  return [...sources.keys()];
}

/** Throws RangeError if the file does not exist. */
export function schemaFile(name: string): FileDescriptor {
  const known = resolved.get(name);
  if (known) return known;
  const source = sources.get(name);
  if (!source) throw new RangeError(`no schema file ${name}`);
  const file = fillIn(source);
  resolved.set(name, file);
  return file;
}

/**
 * The descriptor of a type such as `core/v1.Pod`, with aliases resolved. Throws RangeError if
 * unknown.
 */
export function schemaType(name: TypeName): TypeDescriptor {
  const descriptor = schemaTypeAsDeclared(name);
  return descriptor.aliasOf ? schemaTypeAsDeclared(descriptor.aliasOf) : descriptor;
}

function schemaTypeAsDeclared(name: TypeName): TypeDescriptor {
  const { file, type } = splitTypeName(name);
  const types = schemaFile(file).types;
  const descriptor = Object.hasOwn(types, type) ? types[type] : undefined;
  if (!descriptor) throw new RangeError(`no schema type ${name}`);
  return descriptor;
}

export function splitTypeName(name: TypeName): { file: string; type: string } {
  const at = name.lastIndexOf('.');
  return { file: name.slice(0, at), type: name.slice(at + 1) };
}

/**
 * Known values of an `enumType` or `keyEnumType` of a field in `file`; empty if any value is
 * allowed.
 */
export function enumValues(file: string, enumType: string): readonly string[] {
  const name = enumType.includes('/') ? splitTypeName(enumType) : { file, type: enumType };
  return schemaFile(name.file).enums[name.type] ?? [];
}

let kindIndex: Map<string, KindName> | undefined;
let kindsEverywhere: Map<string, TypeName> | undefined;

/**
 * Every type whose objects have `apiVersion` and `kind`, except the types that exist in all groups.
 */
export function kindNames(): readonly KindName[] {
  return [...index().values()];
}

/** The kind with this `apiVersion` and `kind` on the wire; undefined when unknown. */
export function kindNamed(apiVersion: string, kind: string): KindName | undefined {
  const known = index().get(`${apiVersion}, ${kind}`);
  if (known) return known;
  const type = kindsEverywhere?.get(kind);
  if (!type) return undefined;
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash);
  const version = apiVersion.slice(slash + 1);
  return { type, groupHead: dialect().groupHead(group), version, kind };
}

function index(): Map<string, KindName> {
  if (kindIndex) return kindIndex;
  kindIndex = new Map();
  kindsEverywhere = new Map();
  for (const file of generatedFiles) {
    if (!file.group || !file.version) continue;
    for (const [kind, descriptor] of Object.entries(file.types)) {
      const type = `${file.name}.${kind}`;
      if (descriptor.kind?.everywhere) kindsEverywhere.set(kind, type);
      const shape = descriptor.aliasOf ? schemaType(type) : descriptor;
      if (!shape.typeMeta) continue;
      const groupHead = descriptor.kind?.group ?? file.group;
      const apiVersion = dialect().apiVersion(groupHead, file.version);
      const name = { type, groupHead, version: file.version, kind };
      kindIndex.set(`${apiVersion}, ${kind}`, name);
    }
  }
  return kindIndex;
}

const placeholder = /\{(word|Word|key|group:[\w.]+|system:[\w-]+)\}/g;

function fillIn<T>(value: T): T {
  if (typeof value === 'string') return fillInText(value) as T;
  if (Array.isArray(value)) return value.map(fillIn) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, fillIn(member)]),
  ) as T;
}

function fillInText(text: string): string {
  if (!text.includes('{')) return text;
  return text.replace(placeholder, (_, name: string) => {
    const names = dialect();
    const [what, argument = ''] = name.split(':');
    if (what === 'group') return names.group(argument);
    if (what === 'system') return names.systemName(argument);
    if (what === 'key') return names.keyDomain;
    return what === 'word' ? names.word : names.word.charAt(0).toUpperCase() + names.word.slice(1);
  });
}
