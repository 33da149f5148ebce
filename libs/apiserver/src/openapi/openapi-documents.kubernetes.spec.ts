import { definitions } from '@orch/api';
import { type Clock, selectDialect, systemClock } from '@orch/component';
import type { ServedResource } from '@orch/registry';
import { ResourceTable } from '@orch/registry';
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import type { Subresource } from '../handlers/subresources.js';
import { noAggregation } from '../testing/no-aggregation.js';
import { OpenApiDocuments } from './openapi-documents.js';
import type { OperationItem, PathItem } from './path-items.js';
import type { Schema } from './schema-types.js';

selectDialect('kubernetes');

const scale: Subresource = {
  name: 'scale',
  kind: 'Scale',
  from: { groupHead: 'autoscaling', version: 'v1' },
  verbs: ['get', 'patch', 'update'],
  longRunning: false,
  handle: () => Promise.resolve(),
};
const log: Subresource = {
  name: 'log',
  kind: 'Pod',
  verbs: ['get'],
  longRunning: true,
  handle: () => Promise.resolve(),
};

function subresourcesOf({ kind }: ServedResource): Subresource[] {
  if (kind === 'Deployment') return [scale];
  return kind === 'Pod' ? [log] : [];
}

function newDocuments(clock: Pick<Clock, 'monotonicMs'> = systemClock): OpenApiDocuments {
  const table = new ResourceTable(definitions);
  return new OpenApiDocuments({ ...noAggregation, table, subresourcesOf, clock });
}

interface Version2 {
  readonly paths: Record<string, PathItem>;
  readonly definitions: Record<string, Schema>;
}

interface Version3 {
  readonly paths: Record<string, PathItem>;
  readonly components: { readonly schemas: Record<string, Schema> };
}

async function parsed<T>(document: Promise<{ body: Buffer }> | undefined): Promise<T> {
  return JSON.parse((await document)!.body.toString()) as T;
}

function referencesIn(document: unknown): string[] {
  const text = JSON.stringify(document);
  return [...text.matchAll(/"\$ref":"#\/(?:definitions|components\/schemas)\/([^"]+)"/g)].map(
    ([, name]) => name!,
  );
}

const deployment = '/apis/apps/v1/namespaces/{namespace}/deployments/{name}';

/** The subset of the public OpenAPIv2.proto that a client of the binary form reads. */
const reader = protobuf.parse(
  `syntax = "proto3";
  message Document { string swagger = 1; Paths paths = 8; Definitions definitions = 9; }
  message Paths { repeated NamedPathItem path = 2; }
  message NamedPathItem { string name = 1; PathItem value = 2; }
  message PathItem { Operation get = 2; Operation patch = 8; repeated ParametersItem parameters = 9; }
  message Operation { string operation_id = 5; repeated ParametersItem parameters = 8; repeated NamedAny vendor_extension = 13; }
  message ParametersItem { Parameter parameter = 1; }
  message Parameter { BodyParameter body_parameter = 1; NonBodyParameter non_body_parameter = 2; }
  message BodyParameter { string name = 2; Schema schema = 5; }
  message NonBodyParameter { Placed query = 3; Placed path = 4; }
  message Placed { bool required = 1; string in = 2; string name = 4; }
  message NamedAny { string name = 1; Any value = 2; }
  message Any { string yaml = 2; }
  message Definitions { repeated NamedSchema additional_properties = 1; }
  message NamedSchema { string name = 1; Schema value = 2; }
  message Schema { string ref = 1; string format = 2; string description = 4; repeated string required = 19;
    AdditionalPropertiesItem additional_properties = 21; TypeItem type = 22; ItemsItem items = 23;
    Definitions properties = 25; repeated NamedAny vendor_extension = 31; }
  message AdditionalPropertiesItem { Schema schema = 1; }
  message TypeItem { repeated string value = 1; }
  message ItemsItem { repeated Schema schema = 1; }`,
).root;

interface SchemaMessage {
  readonly ref?: string;
  readonly required?: string[];
  readonly type?: { readonly value: string[] };
  readonly items?: { readonly schema: SchemaMessage[] };
  readonly properties?: { readonly additionalProperties: Named<SchemaMessage>[] };
  readonly additionalProperties?: { readonly schema: SchemaMessage };
  readonly vendorExtension?: Named<{ readonly yaml: string }>[];
}
interface Named<T> {
  readonly name: string;
  readonly value: T;
}
interface DocumentMessage {
  readonly swagger: string;
  readonly paths: { readonly path: Named<{ readonly patch?: OperationMessage }>[] };
  readonly definitions: { readonly additionalProperties: Named<SchemaMessage>[] };
}
interface OperationMessage {
  readonly operationId: string;
  readonly parameters: {
    readonly parameter: {
      readonly bodyParameter?: { readonly name: string };
      readonly nonBodyParameter?: { readonly query?: { readonly name: string } };
    };
  }[];
  readonly vendorExtension: Named<{ readonly yaml: string }>[];
}

async function binary(documents: OpenApiDocuments): Promise<DocumentMessage> {
  const type = reader.lookupType('Document');
  const { body } = await documents.whole('protobuf');
  return type.toObject(type.decode(body)) as DocumentMessage;
}

describe('version 2', () => {
  it('defines every type it refers to, and every served kind', async () => {
    const document = await parsed<Version2>(newDocuments().whole('json'));
    const known = new Set(Object.keys(document.definitions));
    expect(referencesIn(document).filter((name) => !known.has(name))).toEqual([]);
    const kinds = Object.values(document.definitions).flatMap(
      (schema) => (schema['x-kubernetes-group-version-kind'] ?? []) as { kind: string }[],
    );
    const names = new Set(kinds.map(({ kind }) => kind));
    expect(definitions.filter(({ kind }) => !names.has(kind))).toEqual([]);
  });

  it('lists the operations of a resource with the kinds they are about', async () => {
    const { paths } = await parsed<Version2>(newDocuments().whole('json'));
    expect(paths[deployment]?.patch).toMatchObject({
      operationId: 'patchAppsV1NamespacedDeployment',
      'x-kubernetes-action': 'patch',
      'x-kubernetes-group-version-kind': { group: 'apps', kind: 'Deployment', version: 'v1' },
    });
    const names = paths[deployment]?.patch?.parameters.map(({ name }) => name);
    expect(names).toEqual(['dryRun', 'fieldManager', 'fieldValidation', 'force', 'body']);
    expect(paths[`${deployment}/scale`]?.put).toMatchObject({
      operationId: 'replaceAppsV1NamespacedDeploymentScale',
      'x-kubernetes-group-version-kind': { group: 'autoscaling', kind: 'Scale', version: 'v1' },
    });
    expect(paths['/apis/apps/v1/deployments']?.get?.operationId).toBe(
      'listAppsV1DeploymentForAllNamespaces',
    );
    expect(paths['/api/v1/namespaces/{namespace}/pods/{name}/log']?.get?.produces).toEqual([
      'text/plain',
    ]);
    expect(paths['/api/v1/namespaces']?.delete).toBeUndefined();
  });

  it('lists the possible responses of the interface', async () => {
    const { paths } = await parsed<Version2>(newDocuments().whole('json'));
    const codes = (path: string) =>
      Object.fromEntries(
        Object.entries(paths[path]!)
          .filter(([method]) => method !== 'parameters')
          .map(([method, item]) => [method, Object.keys((item as OperationItem).responses)]),
      );
    expect(codes('/apis/apps/v1/namespaces/{namespace}/deployments')).toEqual({
      get: ['200', '401'],
      post: ['200', '201', '202', '401'],
      delete: ['200', '401'],
    });
    expect(codes(deployment)).toEqual({
      get: ['200', '401'],
      put: ['200', '201', '401'],
      patch: ['200', '201', '401'],
      delete: ['200', '202', '401'],
    });
  });

  it('gives every operation a unique name', async () => {
    const { paths } = await parsed<Version2>(newDocuments().whole('json'));
    const ids = Object.values(paths).flatMap(({ parameters, ...operations }) =>
      Object.values(operations as Record<string, OperationItem>).map(
        ({ operationId }) => operationId,
      ),
    );
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it('has the same contents in its binary form', async () => {
    const documents = newDocuments();
    const text = await parsed<Version2>(documents.whole('json'));
    const message = await binary(documents);
    expect(message.swagger).toBe('2.0');
    expect(message.paths.path.map(({ name }) => name)).toEqual(Object.keys(text.paths));
    const schemas = message.definitions.additionalProperties;
    expect(schemas.map(({ name }) => name)).toEqual(Object.keys(text.definitions));
    const container = schemas.find(({ name }) => name === 'io.k8s.api.core.v1.Container')!.value;
    expect(container.required).toEqual(['name']);
    const ports = container.properties?.additionalProperties.find(({ name }) => name === 'ports');
    expect(ports?.value.type?.value).toEqual(['array']);
    expect(ports?.value.items?.schema[0]?.ref).toBe(
      '#/definitions/io.k8s.api.core.v1.ContainerPort',
    );
    expect(ports?.value.vendorExtension).toContainEqual({
      name: 'x-kubernetes-patch-merge-key',
      value: { yaml: '"containerPort"' },
    });
    const patch = message.paths.path.find(({ name }) => name === deployment)!.value.patch!;
    expect(
      patch.parameters.map(({ parameter }) => parameter.nonBodyParameter?.query?.name),
    ).toEqual(['dryRun', 'fieldManager', 'fieldValidation', 'force', undefined]);
    expect(patch.parameters.at(-1)?.parameter.bodyParameter?.name).toBe('body');
    expect(patch.vendorExtension).toContainEqual({
      name: 'x-kubernetes-group-version-kind',
      value: { yaml: '{"group":"apps","kind":"Deployment","version":"v1"}' },
    });
  });
});

describe('version 3', () => {
  it('has a document for each group version, listed in the index', async () => {
    const documents = newDocuments();
    const { paths } = await parsed<{ paths: Record<string, { serverRelativeURL: string }> }>(
      documents.index(),
    );
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['api/v1', 'apis/apps/v1']));
    for (const [place, { serverRelativeURL }] of Object.entries(paths)) {
      const { hash } = await documents.ofGroupVersion(place)!;
      expect(serverRelativeURL).toBe(`/openapi/v3/${place}?hash=${hash}`);
      const document = await parsed<Version3>(documents.ofGroupVersion(place));
      const known = new Set(Object.keys(document.components.schemas));
      expect(referencesIn(document).filter((name) => !known.has(name))).toEqual([]);
    }
  });

  it('omits groups that are not served', () => {
    expect(newDocuments().ofGroupVersion('apis/nope/v1')).toBeUndefined();
  });
});

describe('rendering documents', () => {
  it('renders each document once, with the same bytes on every server', async () => {
    const [one, other] = [newDocuments(), newDocuments()];
    expect(one.whole('json')).toBe(one.whole('json'));
    expect((await one.whole('json')).hash).toBe((await other.whole('json')).hash);
    expect((await one.whole('json')).hash).not.toBe((await one.whole('protobuf')).hash);
  });

  it('yields to the event loop between slices', async () => {
    let nowMs = 0;
    // Every reading of the clock is a whole slice later.
    const later = () => {
      nowMs += 1_000;
      return nowMs;
    };
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 0);
    await newDocuments({ monotonicMs: later }).whole('json');
    clearInterval(timer);
    expect(turns).toBeGreaterThan(1);
  });
});
