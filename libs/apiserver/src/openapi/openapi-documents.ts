/**
 * OpenAPI v3: one document per group version with the schemas of its kinds and what can be done at its
 * paths, and an index of the documents by their hash. Made when first asked for and kept as bytes.
 */
import { createHash } from 'node:crypto';
import { dialect, interfaceVersion } from '@orch/component';
import type { Subresource } from '../handlers/subresources.js';
import type { ServedResource } from '../registry/resource.js';
import type { ResourceTable } from '../registry/resource-table.js';
import { addModel, referenceTo, type Schema } from './type-schema.js';

interface Document {
  readonly bytes: Buffer;
  readonly hash: string;
}

type SubresourcesOf = (served: ServedResource) => readonly Subresource[];

const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
];

/** Name, type and verbs of the parameters that operations take. */
const parameters: readonly { readonly name: string; readonly type: string; readonly of: string }[] =
  [
    { name: 'pretty', type: 'string', of: 'get list create update patch delete deletecollection' },
    { name: 'dryRun', type: 'string', of: 'create update patch delete deletecollection' },
    { name: 'fieldManager', type: 'string', of: 'create update patch' },
    { name: 'fieldValidation', type: 'string', of: 'create update patch' },
    { name: 'labelSelector', type: 'string', of: 'list deletecollection' },
    { name: 'fieldSelector', type: 'string', of: 'list deletecollection' },
    { name: 'limit', type: 'integer', of: 'list deletecollection' },
    { name: 'continue', type: 'string', of: 'list deletecollection' },
    { name: 'resourceVersion', type: 'string', of: 'get list deletecollection' },
    { name: 'resourceVersionMatch', type: 'string', of: 'list deletecollection' },
    { name: 'timeoutSeconds', type: 'integer', of: 'list deletecollection' },
    { name: 'watch', type: 'boolean', of: 'list' },
    { name: 'allowWatchBookmarks', type: 'boolean', of: 'list' },
    { name: 'gracePeriodSeconds', type: 'integer', of: 'delete deletecollection' },
    { name: 'orphanDependents', type: 'boolean', of: 'delete deletecollection' },
    { name: 'propagationPolicy', type: 'string', of: 'delete deletecollection' },
  ];

const methodsOfVerbs: Readonly<Record<string, string>> = {
  get: 'get',
  list: 'get',
  create: 'post',
  update: 'put',
  patch: 'patch',
  delete: 'delete',
  deletecollection: 'delete',
};

export class OpenApiDocuments {
  private readonly documents = new Map<string, Document>();

  constructor(
    private readonly table: ResourceTable,
    private readonly subresourcesOf: SubresourcesOf,
  ) {}

  /** Lets the event loop go between two documents. */
  async index(): Promise<Buffer> {
    const paths: Record<string, { readonly serverRelativeURL: string }> = {};
    for (const { group, version } of this.table.served) {
      const path = pathOf(group, version);
      if (paths[path]) continue;
      await new Promise((resolve) => setImmediate(resolve));
      const { hash } = this.document(group, version)!;
      paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` };
    }
    return Buffer.from(JSON.stringify({ paths }));
  }

  /** Undefined for a group version that is not served. */
  document(group: string, version: string): Document | undefined {
    const path = pathOf(group, version);
    let document = this.documents.get(path);
    if (!document) {
      const served = this.table.inGroupVersion(group, version);
      if (served.length === 0) return undefined;
      document = makeDocument(served, this.subresourcesOf);
      this.documents.set(path, document);
    }
    return document;
  }
}

function pathOf(group: string, version: string): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`;
}

function makeDocument(served: readonly ServedResource[], subresourcesOf: SubresourcesOf): Document {
  const models = new Map<string, Schema>();
  const paths: Record<string, Schema> = {};
  addModel(models, 'meta/v1.Status');
  addModel(models, 'meta/v1.DeleteOptions');
  for (const entry of served) {
    addModel(models, schemaName(entry));
    addModel(models, listSchemaName(entry));
    addPaths(paths, entry, subresourcesOf(entry));
  }
  const bytes = Buffer.from(
    JSON.stringify({
      openapi: '3.0.0',
      info: { title: dialect().word, version: interfaceVersion.git },
      paths,
      components: { schemas: Object.fromEntries([...models].sort(([a], [b]) => (a < b ? -1 : 1))) },
    }),
  );
  const hash = createHash('sha256').update(bytes).digest('hex').toUpperCase();
  return { bytes, hash };
}

function schemaName(served: ServedResource): string {
  return `${served.schemaPackage}.${served.kind}`;
}

function listSchemaName(served: ServedResource): string {
  return `${served.schemaPackage}.${served.listKind}`;
}

function addPaths(
  paths: Record<string, Schema>,
  served: ServedResource,
  subresources: readonly Subresource[],
): void {
  const { definition } = served;
  const base = `/${pathOf(served.group, served.version)}`;
  const collection = definition.namespaced
    ? `${base}/namespaces/{namespace}/${definition.plural}`
    : `${base}/${definition.plural}`;
  const verbs = [...served.resource.verbs];
  const named = new Set<string>(['get', 'update', 'patch', 'delete']);
  const pathParameters = [...(definition.namespaced ? [pathParameter('namespace')] : [])];
  paths[collection] = pathItem(
    served,
    verbs.filter((verb) => !named.has(verb) && verb !== 'watch'),
    pathParameters,
  );
  const itemParameters = [...pathParameters, pathParameter('name')];
  paths[`${collection}/{name}`] = pathItem(
    served,
    verbs.filter((verb) => named.has(verb)),
    itemParameters,
  );
  for (const { name, verbs: own, from, longRunning } of subresources) {
    if (from || longRunning) continue;
    paths[`${collection}/{name}/${name}`] = pathItem(served, own, itemParameters);
  }
}

function pathParameter(name: string): Schema {
  return { name, in: 'path', required: true, schema: { type: 'string', uniqueItems: true } };
}

function pathItem(
  served: ServedResource,
  verbs: readonly string[],
  pathParameters: readonly Schema[],
): Schema {
  const operations = verbs.map((verb) => [methodsOfVerbs[verb], operation(served, verb)]);
  return { ...Object.fromEntries(operations), parameters: pathParameters };
}

function operation(served: ServedResource, verb: string): Schema {
  const query = parameters
    .filter(({ of }) => of.split(' ').includes(verb))
    .map(({ name, type }) => ({ name, in: 'query', schema: { type, uniqueItems: true } }));
  const answer = verb === 'list' ? listSchemaName(served) : schemaName(served);
  const isDelete = verb.startsWith('delete');
  return {
    parameters: query,
    ...requestBody(served, verb),
    responses: {
      '200': {
        description: 'OK',
        content: {
          'application/json': { schema: referenceTo(isDelete ? 'meta/v1.Status' : answer) },
        },
      },
    },
    [dialect().extension('action')]: verb === 'create' ? 'post' : verb === 'update' ? 'put' : verb,
    [dialect().extension('group-version-kind')]: {
      group: served.group,
      version: served.version,
      kind: served.kind,
    },
  };
}

function requestBody(served: ServedResource, verb: string): Schema {
  if (verb === 'patch') {
    const schema = { type: 'object' };
    const content = Object.fromEntries(patchTypes.map((type) => [type, { schema }]));
    return { requestBody: { content, required: true } };
  }
  if (verb === 'create' || verb === 'update') {
    const schema = referenceTo(schemaName(served));
    return { requestBody: { content: { '*/*': { schema } }, required: true } };
  }
  if (!verb.startsWith('delete')) return {};
  return { requestBody: { content: { '*/*': { schema: referenceTo('meta/v1.DeleteOptions') } } } };
}
