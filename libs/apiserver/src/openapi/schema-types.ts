/** The parts of OpenAPI schemas that documents of both versions are built from. */

export type OpenApiVersion = 2 | 3;

export interface Schema {
  $ref?: string;
  description?: string;
  type?: string;
  format?: string;
  default?: unknown;
  required?: readonly string[];
  items?: Schema;
  additionalProperties?: Schema | boolean;
  properties?: Record<string, Schema>;
  allOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  anyOf?: readonly Schema[];
  not?: Schema;
  nullable?: boolean;
  uniqueItems?: boolean;
  title?: string;
  multipleOf?: number;
  maximum?: number;
  exclusiveMaximum?: boolean;
  minimum?: number;
  exclusiveMinimum?: boolean;
  maxLength?: number;
  minLength?: number;
  pattern?: string;
  maxItems?: number;
  minItems?: number;
  maxProperties?: number;
  minProperties?: number;
  enum?: readonly unknown[];
  [extension: `x-${string}`]: unknown;
}

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Group on the wire and version. */
export type GroupVersion = Omit<GroupVersionKind, 'kind'>;
