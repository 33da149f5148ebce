/**
 * The extensions of a schema, whose keys contain the brand word. The message has them as members;
 * they are read once per schema.
 */
import { dialect, knownKeys } from '@orch/component';
import type { JSONSchemaProps } from '@orch/types/apiextensions/v1';

export interface Extensions {
  readonly preserveUnknownFields?: boolean;
  readonly embeddedResource?: boolean;
  readonly intOrString?: boolean;
  readonly listType?: string;
  readonly listMapKeys?: readonly string[];
  readonly mapType?: string;
}

const names = {
  preserveUnknownFields: 'preserve-unknown-fields',
  embeddedResource: 'embedded-resource',
  intOrString: 'int-or-string',
  listType: 'list-type',
  listMapKeys: 'list-map-keys',
  mapType: 'map-type',
} as const satisfies Record<keyof Extensions, string>;

export const extensionNames: readonly (keyof Extensions)[] = knownKeys(names);

let keys: Record<keyof Extensions, string> | undefined;

/** The key of an extension in a schema. */
export function extensionKey(name: keyof Extensions): string {
  keys ??= Object.fromEntries(
    extensionNames.map((extensionName) => [
      extensionName,
      dialect().extension(names[extensionName]),
    ]),
  ) as Record<keyof Extensions, string>;
  return keys[name];
}

const none: Extensions = {};

export function extensionsOf(schema: JSONSchemaProps): Extensions {
  const values = schema as Readonly<Record<string, unknown>>;
  let extensions: Record<string, unknown> | undefined;
  for (const name of extensionNames) {
    const value = values[extensionKey(name)];
    if (value === undefined || value === null) continue;
    extensions ??= {};
    extensions[name] = value;
  }
  return extensions ?? none;
}

/** The extensions that are set, under their published keys. */
export function publishedExtensions(extensions: Extensions): [string, unknown][] {
  return extensionNames
    .filter((name) => isSet(extensions[name]))
    .map((name) => [extensionKey(name), extensions[name]]);
}

function isSet(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}
