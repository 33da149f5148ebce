/**
 * The version 2 document in its binary form: a protobuf message `Document` with the members of the
 * JSON form; maps are lists of named values and extensions are YAML text. Field numbers match the
 * public OpenAPIv2.proto; only fields that our documents use are written.
 */
import protobuf from 'protobufjs/minimal.js';
import { documentInfo, type Piece, securityScheme } from './document.js';
import type { OperationItem, ParameterItem, PathItem, ResponseItem } from './path-items.js';
import type { Schema } from './schema-types.js';

type Writer = protobuf.Writer;

const documentFields = {
  swagger: 1,
  info: 2,
  paths: 8,
  definitions: 9,
  security: 12,
  securityDefinitions: 13,
};

/** Wire type 2: a length and so many bytes. */
function delimited(field: number): number {
  return (field << 3) | 2;
}

function text(writer: Writer, field: number, value: string | undefined): void {
  if (value !== undefined && value !== '') writer.uint32(delimited(field)).string(value);
}

function texts(writer: Writer, field: number, values: readonly string[] = []): void {
  for (const value of values) writer.uint32(delimited(field)).string(value);
}

function flag(writer: Writer, field: number, value: boolean | undefined): void {
  if (value) writer.uint32(field << 3).bool(true);
}

/** Wire type 1: a double. */
function number(writer: Writer, field: number, value: number | undefined): void {
  if (value !== undefined) writer.uint32((field << 3) | 1).double(value);
}

function whole(writer: Writer, field: number, value: number | undefined): void {
  if (value !== undefined) writer.uint32(field << 3).int64(value);
}

function message(writer: Writer, field: number, write: () => void): void {
  writer.uint32(delimited(field)).fork();
  write();
  writer.ldelim();
}

/** An entry of a map: the name, and the value as a message. */
function named(writer: Writer, field: number, name: string, write: () => void): void {
  message(writer, field, () => {
    text(writer, 1, name);
    message(writer, 2, write);
  });
}

/** JSON is YAML too. */
function yaml(writer: Writer, value: unknown): void {
  text(writer, 2, JSON.stringify(value));
}

function extensions(writer: Writer, field: number, holder: object): void {
  for (const [name, value] of Object.entries(holder)) {
    if (name.startsWith('x-')) named(writer, field, name, () => yaml(writer, value));
  }
}

/** Bounds of numbers, texts and lists. */
function writeBounds(writer: Writer, schema: Schema): void {
  number(writer, 6, schema.multipleOf);
  number(writer, 7, schema.maximum);
  flag(writer, 8, schema.exclusiveMaximum);
  number(writer, 9, schema.minimum);
  flag(writer, 10, schema.exclusiveMinimum);
  whole(writer, 11, schema.maxLength);
  whole(writer, 12, schema.minLength);
  text(writer, 13, schema.pattern);
  whole(writer, 14, schema.maxItems);
  whole(writer, 15, schema.minItems);
}

function writeSchema(writer: Writer, schema: Schema): void {
  const { additionalProperties, items, properties, type } = schema;
  text(writer, 1, schema.$ref);
  text(writer, 2, schema.format);
  text(writer, 3, schema.title);
  text(writer, 4, schema.description);
  if (schema.default !== undefined) message(writer, 5, () => yaml(writer, schema.default));
  writeBounds(writer, schema);
  flag(writer, 16, schema.uniqueItems);
  whole(writer, 17, schema.maxProperties);
  whole(writer, 18, schema.minProperties);
  texts(writer, 19, schema.required);
  for (const value of schema.enum ?? []) message(writer, 20, () => yaml(writer, value));
  if (typeof additionalProperties === 'object') {
    message(writer, 21, () => message(writer, 1, () => writeSchema(writer, additionalProperties)));
  } else if (additionalProperties) message(writer, 21, () => flag(writer, 2, true));
  if (type !== undefined) message(writer, 22, () => text(writer, 1, type));
  if (items) message(writer, 23, () => message(writer, 1, () => writeSchema(writer, items)));
  if (properties) {
    message(writer, 25, () => {
      for (const [name, property] of Object.entries(properties)) {
        named(writer, 1, name, () => writeSchema(writer, property));
      }
    });
  }
  extensions(writer, 31, schema);
}

/** Path and query parameters have separate messages with different field numbers. */
const placedParameters = {
  query: { choice: 3, type: 6, uniqueItems: 20 },
  path: { choice: 4, type: 5, uniqueItems: 19 },
};

function writeParameter(writer: Writer, field: number, parameter: ParameterItem): void {
  message(writer, field, () => message(writer, 1, () => writeParameterChoice(writer, parameter)));
}

function writeParameterChoice(writer: Writer, parameter: ParameterItem): void {
  const { name, description, required, schema } = parameter;
  if (parameter.in === 'body') {
    message(writer, 1, () => {
      text(writer, 1, description);
      text(writer, 2, name);
      text(writer, 3, parameter.in);
      flag(writer, 4, required);
      if (schema) message(writer, 5, () => writeSchema(writer, schema));
    });
    return;
  }
  const numbers = placedParameters[parameter.in];
  message(writer, 2, () =>
    message(writer, numbers.choice, () => {
      flag(writer, 1, required);
      text(writer, 2, parameter.in);
      text(writer, 3, description);
      text(writer, 4, name);
      text(writer, numbers.type, parameter.type);
      flag(writer, numbers.uniqueItems, parameter.uniqueItems);
    }),
  );
}

function writeResponse(writer: Writer, { description, schema }: ResponseItem): void {
  message(writer, 1, () => {
    text(writer, 1, description);
    if (schema) message(writer, 2, () => message(writer, 1, () => writeSchema(writer, schema)));
  });
}

function writeOperation(writer: Writer, operation: OperationItem): void {
  texts(writer, 1, operation.tags);
  text(writer, 3, operation.description);
  text(writer, 5, operation.operationId);
  texts(writer, 6, operation.produces);
  texts(writer, 7, operation.consumes);
  for (const parameter of operation.parameters) writeParameter(writer, 8, parameter);
  message(writer, 9, () => {
    for (const [code, response] of Object.entries(operation.responses)) {
      named(writer, 1, code, () => writeResponse(writer, response));
    }
  });
  texts(writer, 10, operation.schemes);
  extensions(writer, 13, operation);
}

const methodFields = [
  ['get', 2],
  ['put', 3],
  ['post', 4],
  ['delete', 5],
  ['patch', 8],
] as const;

function writePathItem(writer: Writer, item: PathItem): void {
  for (const [method, field] of methodFields) {
    const operation = item[method];
    if (operation) message(writer, field, () => writeOperation(writer, operation));
  }
  for (const parameter of item.parameters) writeParameter(writer, 9, parameter);
}

/** Everything but paths and definitions. */
export function protobufFrame(): Uint8Array {
  const writer = protobuf.Writer.create();
  const { title, version } = documentInfo();
  text(writer, documentFields.swagger, '2.0');
  message(writer, documentFields.info, () => {
    text(writer, 1, title);
    text(writer, 2, version);
  });
  message(writer, documentFields.security, () => named(writer, 1, 'BearerToken', () => undefined));
  message(writer, documentFields.securityDefinitions, () =>
    named(writer, 1, 'BearerToken', () =>
      message(writer, 2, () => {
        text(writer, 1, securityScheme.type);
        text(writer, 2, securityScheme.name);
        text(writer, 3, securityScheme.in);
        text(writer, 4, securityScheme.description);
      }),
    ),
  );
  return writer.finish();
}

/**
 * A path or definition as a complete field of the document. Protobuf merges repeated occurrences of
 * a message, so each piece can have its own `Paths` or `Definitions`.
 */
export function protobufPiece(piece: Piece): Uint8Array {
  const writer = protobuf.Writer.create();
  if (piece.section === 'paths') {
    message(writer, documentFields.paths, () =>
      named(writer, 2, piece.name, () => writePathItem(writer, piece.value)),
    );
  } else {
    message(writer, documentFields.definitions, () =>
      named(writer, 1, piece.name, () => writeSchema(writer, piece.value)),
    );
  }
  return writer.finish();
}
