/**
 * The extensions of a schema, whose keys hold the brand word: what the members of the message mean, read
 * once a schema.
 */
import { dialect } from '@orch/component';
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

export const extensionNames = Object.keys(names) as readonly (keyof Extensions)[];

let keys: Record<keyof Extensions, string> | undefined;

/** The key under which an extension stands in a schema. */
export function extensionKey(name: keyof Extensions): string {
  keys ??= Object.fromEntries(
    extensionNames.map((one) => [one, dialect().extension(names[one])]),
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

/** The extensions that are set to something, under their keys: as they are published. */
export function publishedExtensions(extensions: Extensions): [string, unknown][] {
  return extensionNames
    .filter((name) => isSet(extensions[name]))
    .map((name) => [extensionKey(name), extensions[name]]);
}

function isSet(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}
