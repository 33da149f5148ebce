/** Paths that another server wrote, in version 2: the members that our documents know. Pure. */
import { isJsonObject, type JsonObject } from '@orch/apimachinery';
import {
  type DefinitionName,
  extensions,
  foreignSchema,
  mapValues,
  texts,
} from './foreign-schema.js';
import type { OperationItem, ParameterItem, PathItem, ResponseItem } from './path-items.js';

const methods = ['get', 'put', 'post', 'delete', 'patch'] as const;
const places: ReadonlySet<unknown> = new Set(['path', 'query', 'body']);
const parameterPrefix = '#/parameters/';

/** What references in paths lead to. */
export interface ForeignReferences {
  readonly nameOf: DefinitionName;
  /** The shared parameters of the document. */
  readonly parameters: JsonObject;
}

export function foreignPath(value: unknown, references: ForeignReferences): PathItem {
  if (!isJsonObject(value)) return { parameters: [] };
  const operations = methods.flatMap((method) => {
    const operation = value[method];
    return isJsonObject(operation) ? [[method, foreignOperation(operation, references)]] : [];
  });
  return {
    parameters: foreignParameters(value.parameters, references),
    ...Object.fromEntries(operations),
  };
}

function foreignOperation(value: JsonObject, references: ForeignReferences): OperationItem {
  const { description, operationId, tags, consumes, produces, schemes, responses } = value;
  return {
    description: text(description),
    operationId: text(operationId),
    tags: texts(tags),
    ...(Array.isArray(consumes) && { consumes: texts(consumes) }),
    ...(Array.isArray(produces) && { produces: texts(produces) }),
    ...(Array.isArray(schemes) && { schemes: texts(schemes) }),
    parameters: foreignParameters(value.parameters, references),
    responses: mapValues(isJsonObject(responses) ? responses : {}, (response) =>
      foreignResponse(response, references),
    ),
    ...extensions(value),
  };
}

function foreignParameters(value: unknown, references: ForeignReferences): ParameterItem[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown) => {
    const parameter = resolved(item, references.parameters);
    if (!isJsonObject(parameter) || !places.has(parameter.in)) return [];
    const { name, description, required, type, uniqueItems, schema } = parameter;
    return [
      {
        name: text(name),
        in: parameter.in as ParameterItem['in'],
        ...(typeof description === 'string' && { description }),
        ...(typeof required === 'boolean' && { required }),
        ...(typeof type === 'string' && { type }),
        ...(typeof uniqueItems === 'boolean' && { uniqueItems }),
        ...(schema !== undefined && { schema: foreignSchema(schema, references.nameOf) }),
      },
    ];
  });
}

/** The shared parameter that the item refers to, or the item itself. */
function resolved(item: unknown, parameters: JsonObject): unknown {
  if (!isJsonObject(item) || typeof item.$ref !== 'string') return item;
  return parameters[item.$ref.slice(parameterPrefix.length)];
}

function foreignResponse(value: unknown, { nameOf }: ForeignReferences): ResponseItem {
  const { description, schema } = isJsonObject(value) ? value : {};
  return {
    description: text(description),
    ...(schema !== undefined && { schema: foreignSchema(schema, nameOf) }),
  };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
