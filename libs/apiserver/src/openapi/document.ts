/**
 * The documents in pieces: one path or one definition at a time, so that a writer can yield to the
 * event loop in between. Stateless.
 */
import type { TypeName } from '@orch/apimachinery';
import { dialect, interfaceVersion } from '@orch/component';
import type { ServedResource } from '@orch/registry';
import type { Subresource } from '../handlers/subresources.js';
import { acceptedTypes } from '../request/accept.js';
import { customSchema } from './custom-models.js';
import { reachableModels } from './models.js';
import { idOfVersion, type Operation, type PathOperations, tagOf } from './operations.js';
import { type PathItem, pathItem } from './path-items.js';
import { pathsOf } from './resource-paths.js';
import { referenceTo, typeSchema } from './schema.js';
import type { GroupVersion, OpenApiVersion, Schema } from './schema-types.js';

/** The served resources that a document describes. */
export interface Contents {
  readonly served: readonly ServedResource[];
  readonly subresourcesOf: (served: ServedResource) => readonly Subresource[];
  /** Every served group version, independent of the document's own resources. */
  readonly groupVersions: readonly GroupVersion[];
}

export type Piece =
  | { readonly section: 'paths'; readonly name: string; readonly value: PathItem }
  | { readonly section: 'definitions'; readonly name: string; readonly value: Schema };

export interface Info {
  readonly title: string;
  readonly version: string;
}

export function documentInfo(): Info {
  const { word } = dialect();
  return {
    title: word.charAt(0).toUpperCase() + word.slice(1),
    version: interfaceVersion.git,
  };
}

export const securityScheme = {
  type: 'apiKey',
  description: 'Bearer token of a user or service account.',
  name: 'authorization',
  in: 'header',
} as const;

/** Paths first, then the definitions that they reference, sorted by name. */
export function* documentPieces(version: OpenApiVersion, contents: Contents): Generator<Piece> {
  const types = new Set<TypeName>();
  for (const path of allPaths(contents)) {
    for (const { body, responses } of path.operations) {
      if (body) types.add(body.type);
      for (const type of Object.values(responses)) if (type !== undefined) types.add(type);
    }
    yield { section: 'paths', name: path.path, value: pathItem(version, path) };
  }
  for (const served of contents.served) types.add(`${served.schemaPackage}.${served.kind}`);
  const custom = new Map<TypeName, ServedResource>(
    contents.served
      .filter(({ definition }) => definition.custom)
      .flatMap((served) =>
        [served.kind, served.listKind].map((kind): readonly [TypeName, ServedResource] => [
          `${served.schemaPackage}.${kind}`,
          served,
        ]),
      ),
  );
  for (const { name, type } of reachableModels(types)) {
    const served = custom.get(type);
    const value = served
      ? customSchema(version, served, type, (other) => referenceTo(version, other))
      : typeSchema(version, type, contents.groupVersions);
    yield { section: 'definitions', name, value };
  }
}

function* allPaths({ served, subresourcesOf }: Contents): Generator<PathOperations> {
  const introduced = new Set<string>();
  for (const one of served) {
    if (!introduced.has(one.apiVersion)) {
      introduced.add(one.apiVersion);
      yield discoveryPath(one);
    }
    yield* pathsOf(one, subresourcesOf(one));
  }
}

function discoveryPath(served: ServedResource): PathOperations {
  const { group, apiVersion } = served;
  const operation: Operation = {
    method: 'get',
    id: `get${idOfVersion(served)}APIResources`,
    tag: tagOf(served),
    description: 'list the resources of this version',
    parameters: [],
    consumes: acceptedTypes(),
    produces: acceptedTypes(),
    responses: { 200: 'meta/v1.APIResourceList' },
  };
  const path = `/${group === '' ? 'api' : 'apis'}/${apiVersion}/`;
  return { path, parameters: [], operations: [operation] };
}
