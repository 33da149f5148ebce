/** Paths with their operations as OpenAPI writes them, version 2 and version 3. */
import type { TypeName } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { Operation, PathOperations } from './operations.js';
import type { Parameter } from './parameters.js';
import { referenceTo } from './schema.js';
import type { OpenApiVersion, Schema } from './schema-types.js';

export interface ParameterItem {
  readonly name: string;
  readonly in: 'path' | 'query' | 'body';
  readonly description?: string;
  readonly required?: boolean;
  readonly type?: string;
  readonly uniqueItems?: boolean;
  readonly schema?: Schema;
}

export interface ResponseItem {
  readonly description: string;
  /** Version 2. */
  readonly schema?: Schema;
  /** Version 3. */
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

export interface OperationItem {
  readonly description: string;
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters: readonly ParameterItem[];
  readonly responses: Readonly<Record<string, ResponseItem>>;
  /** Version 2. */
  readonly consumes?: readonly string[];
  readonly produces?: readonly string[];
  readonly schemes?: readonly string[];
  /** Version 3. */
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
  readonly [extension: `x-${string}`]: unknown;
}

export interface PathItem {
  readonly parameters: readonly ParameterItem[];
  readonly get?: OperationItem;
  readonly put?: OperationItem;
  readonly post?: OperationItem;
  readonly delete?: OperationItem;
  readonly patch?: OperationItem;
}

const statusTexts: Readonly<Record<string, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
};
const text: Schema = { type: 'string' };

export function pathItem(version: OpenApiVersion, path: PathOperations): PathItem {
  const render = version === 2 ? operationOfVersion2 : operationOfVersion3;
  return {
    parameters: path.parameters.map((parameter) => parameterItem(version, parameter)),
    ...Object.fromEntries(
      path.operations.map((operation) => [operation.method, render(operation)]),
    ),
  };
}

function parameterItem(version: OpenApiVersion, parameter: Parameter): ParameterItem {
  const { name, description, type } = parameter;
  const shape = { type, uniqueItems: true };
  return {
    name,
    in: parameter.in,
    description,
    ...(parameter.in === 'path' && { required: true }),
    ...(version === 2 ? shape : { schema: shape }),
  };
}

function operationOfVersion2(operation: Operation): OperationItem {
  const { body } = operation;
  const parameters = operation.parameters.map((parameter) => parameterItem(2, parameter));
  if (body) {
    parameters.push({
      name: 'body',
      in: 'body',
      ...(body.required && { required: true }),
      schema: referenceTo(2, body.type),
    });
  }
  return {
    ...head(operation),
    consumes: operation.consumes,
    produces: operation.produces,
    schemes: ['https'],
    parameters,
    responses: responses(operation, (type) => ({ schema: schemaOf(2, type) })),
  };
}

function operationOfVersion3(operation: Operation): OperationItem {
  const { body, produces } = operation;
  return {
    ...head(operation),
    parameters: operation.parameters.map((parameter) => parameterItem(3, parameter)),
    ...(body && {
      requestBody: {
        required: body.required,
        content: content(operation.consumes, referenceTo(3, body.type)),
      },
    }),
    responses: responses(operation, (type) => ({ content: content(produces, schemaOf(3, type)) })),
  };
}

function head({ description, id, tag, action, kind }: Operation) {
  const names = dialect();
  return {
    description,
    operationId: id,
    tags: [tag],
    ...(action !== undefined && { [names.extension('action')]: action }),
    ...(kind && { [names.extension('group-version-kind')]: kind }),
  };
}

function schemaOf(version: OpenApiVersion, type: TypeName | undefined): Schema {
  return type === undefined ? text : referenceTo(version, type);
}

function content(types: readonly string[], schema: Schema): Record<string, { schema: Schema }> {
  return Object.fromEntries(types.map((type) => [type, { schema }]));
}

function responses(
  operation: Operation,
  shape: (type: TypeName | undefined) => Partial<ResponseItem>,
): Record<string, ResponseItem> {
  const codes = Object.entries(operation.responses).map(([code, type]) => [
    code,
    { description: statusTexts[code] ?? code, ...shape(type) },
  ]);
  return { ...Object.fromEntries(codes), 401: { description: 'Unauthorized' } };
}
