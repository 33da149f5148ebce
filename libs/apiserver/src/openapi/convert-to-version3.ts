/**
 * The version 3 document of one group version of an aggregated API server, from its version 2
 * document, for servers that have no other. Pure.
 */
import { documentInfo, type Piece, securityScheme } from './document.js';
import { mergedPieces } from './merged-pieces.js';
import type { OperationItem, ParameterItem, PathItem, ResponseItem } from './path-items.js';
import type { Schema } from './schema-types.js';

const jsonType = 'application/json';

/**
 * Returns the document; it is empty if `value` cannot be used. `path`: the beginning of its paths.
 */
export function convertToVersion3(value: unknown, group: string, path: string): object {
  const pieces = [...mergedPieces([], [{ group, value }])];
  const document = {
    openapi: '3.0.0',
    info: documentInfo(),
    paths: Object.fromEntries(
      pieces.flatMap((piece) => (isBelow(piece, path) ? [[piece.name, convertPath(piece)]] : [])),
    ),
    components: {
      schemas: Object.fromEntries(
        pieces.flatMap((piece) =>
          piece.section === 'definitions' ? [[piece.name, piece.value]] : [],
        ),
      ),
      securitySchemes: { BearerToken: securityScheme },
    },
  };
  const text = JSON.stringify(document, (name, inner: unknown) =>
    name === '$ref' ? String(inner).replace('#/definitions/', '#/components/schemas/') : inner,
  );
  return JSON.parse(text) as object;
}

type PathPiece = Extract<Piece, { readonly section: 'paths' }>;

function isBelow(piece: Piece, path: string): piece is PathPiece {
  if (piece.section !== 'paths') return false;
  return piece.name === path || piece.name.startsWith(`${path}/`);
}

function convertPath({ value }: PathPiece): object {
  const { parameters, ...operations } = value as PathItem & Record<string, OperationItem>;
  return {
    parameters: parameters.map(convertParameter),
    ...Object.fromEntries(
      Object.entries(operations).map(([method, operation]) => [method, convert(operation)]),
    ),
  };
}

function convert(operation: OperationItem): object {
  const { parameters, responses, consumes, produces, schemes: _schemes, ...rest } = operation;
  const body = parameters.find((parameter) => parameter.in === 'body');
  return {
    ...rest,
    parameters: parameters.filter((parameter) => parameter !== body).map(convertParameter),
    ...(body && {
      requestBody: {
        required: body.required ?? false,
        content: content(consumes, body.schema ?? {}),
      },
    }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([code, response]) => [
        code,
        convertResponse(response, produces),
      ]),
    ),
  };
}

function convertParameter({ type, uniqueItems, schema: _schema, ...rest }: ParameterItem): object {
  const schema = { ...(type !== undefined && { type }), ...(uniqueItems && { uniqueItems }) };
  return { ...rest, schema };
}

function convertResponse(
  { description, schema }: ResponseItem,
  produces: readonly string[] | undefined,
): object {
  return { description, ...(schema && { content: content(produces, schema) }) };
}

function content(types: readonly string[] | undefined, schema: Schema): object {
  const listed = types && types.length > 0 ? types : [jsonType];
  return Object.fromEntries(listed.map((type) => [type, { schema }]));
}
