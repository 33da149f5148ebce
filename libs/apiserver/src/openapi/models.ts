/**
 * Definitions by name: the definition of each type, and the definitions that a document needs: the
 * types that it names and all types that their fields reference.
 */
import { schemaFile, schemaType, type TypeName } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import { customModelName, customReferences, isCustomType } from './custom-models.js';

export interface SplitTypeName {
  readonly file: string;
  readonly type: string;
}

/** The file and the bare name of a type, with aliases resolved. */
export function partsOf(name: TypeName): SplitTypeName {
  const dot = name.lastIndexOf('.');
  const parts = { file: name.slice(0, dot), type: name.slice(dot + 1) };
  const alias = schemaFile(parts.file).types[parts.type]?.aliasOf;
  return alias === undefined ? parts : partsOf(alias);
}

/** Name of the type's definition; undefined for a type without one. */
export function modelName(name: TypeName): string | undefined {
  if (isCustomType(name)) return customModelName(name);
  const { file, type } = partsOf(name);
  const { openapiPackage } = schemaFile(file);
  if (openapiPackage === undefined || schemaType(name).internal) return undefined;
  return `${dialect().openapiPrefix}${openapiPackage}.${type}`;
}

export interface Model {
  /** Name of the definition. */
  readonly name: string;
  readonly type: TypeName;
}

/** Sorted by name. */
export function reachableModels(roots: Iterable<TypeName>): Model[] {
  const seen = new Set<TypeName>();
  const waiting = [...roots];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (isCustomType(next)) {
      seen.add(next);
      waiting.push(...customReferences);
      continue;
    }
    const { file, type } = partsOf(next);
    const name = `${file}.${type}`;
    if (seen.has(name)) continue;
    seen.add(name);
    const descriptor = schemaType(name);
    if (descriptor.encoding) continue;
    for (const { ref } of descriptor.fields) if (ref !== undefined) waiting.push(ref);
  }
  return [...seen]
    .flatMap((type) => {
      const name = modelName(type);
      return name === undefined ? [] : [{ name, type }];
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
