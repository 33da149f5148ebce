/** One request on a resource, as its handler sees it. */
import type { ApiObject } from '@orch/api';
import { type Codec, managerName, wrapUnknown } from '@orch/apimachinery';
import type { Clock } from '@orch/component';
import type { Entry } from '@orch/store';
import type { User } from '../authentication/user.js';
import type { RegistryParts, Target, WriteContext } from '../registry/registry-parts.js';
import type { ServedResource } from '../registry/resource.js';
import type { Expected, FieldCheck } from '../request/decode-object.js';
import {
  contentTypeOf,
  type IncludeObject,
  includeObjectOf,
  negotiate,
  type Offer,
  type Representation,
} from '../request/media-types.js';
import type { Query } from '../request/query.js';
import type { RequestInfo } from '../request/request-info.js';
import { fieldValidationOf } from '../request/unknown-fields.js';
import type { WriteOptions } from '../request/write-options.js';
import { encodeObject, encodeValue, type ViewOptions } from '../response/encode-object.js';
import { type Exchange, sendBody } from '../response/exchange.js';

export interface Call {
  readonly parts: RegistryParts;
  readonly exchange: Exchange;
  readonly info: RequestInfo;
  readonly query: Query;
  readonly user: User;
  readonly served: ServedResource;
  /** On the monotonic clock. */
  readonly deadlineMs: number;
}

export type Handler = (call: Call) => Promise<void>;

const objectOffer: Offer = { views: true, stream: false };
const plainOffer: Offer = { views: false, stream: false };
const streamOffer: Offer = { views: true, stream: true };
const customOffer: Offer = { ...objectOffer, isCustom: true };
const customStreamOffer: Offer = { ...streamOffer, isCustom: true };

/** Every other value asks for nothing. */
const prettyValues: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);

function representationFor({ exchange, query }: Call, offer: Offer): Representation {
  const representation = negotiate(exchange.request.headers.accept, offer);
  return !representation.pretty && prettyValues.has(query.get('pretty'))
    ? { ...representation, pretty: true }
    : representation;
}

/** How the client wants objects and lists; throws 406. */
export function objectRepresentation(call: Call): Representation {
  return representationFor(call, isCustom(call) ? customOffer : objectOffer);
}

function isCustom({ served }: Call): boolean {
  return served.definition.custom !== undefined;
}

/** For answers that have neither table nor metadata view. */
export function plainRepresentation(call: Call): Representation {
  return representationFor(call, plainOffer);
}

export function streamRepresentation(call: Call): Representation {
  return representationFor(call, isCustom(call) ? customStreamOffer : streamOffer);
}

export function includeOf(call: Call, representation: Representation): IncludeObject {
  return representation.view === 'Table'
    ? includeObjectOf(call.query.get('includeObject'))
    : 'Metadata';
}

export function viewOptions(call: Call, representation: Representation): ViewOptions {
  return {
    representation,
    include: includeOf(call, representation),
    nowMs: nowOf(call.parts.clock),
  };
}

function nowOf(clock: Clock): number {
  return clock.nowMs();
}

export function targetOf({ served, info }: Call): Target {
  return { served, namespace: info.namespace, name: info.name };
}

/**
 * For writes whose ownership is not told of: parts that belong to nobody, deletes, and what has been
 * settled already.
 */
export function writeContext(call: Call, dryRun: boolean): WriteContext {
  return contextFor(call, dryRun, undefined);
}

/** For writes by the manager that the client names, or its user agent. */
export function managedContext(call: Call, options: WriteOptions): WriteContext {
  const agent = call.exchange.request.headers['user-agent'];
  return contextFor(call, options.dryRun, managerName(options.fieldManager, agent));
}

function contextFor(call: Call, dryRun: boolean, manager: string | undefined): WriteContext {
  return {
    user: call.user,
    dryRun,
    manager: call.parts.features.enabled('ServerSideApply') ? manager : undefined,
    deadlineMs: call.deadlineMs,
    warnings: call.exchange.warnings,
  };
}

/** What the client wants done about unknown fields; throws 400. */
export function fieldCheck({ query, exchange }: Call): FieldCheck {
  return { mode: fieldValidationOf(query), warnings: exchange.warnings };
}

/** Answers with one object. */
export function sendObject(
  call: Call,
  statusCode: number,
  entry: Entry,
  options: ViewOptions,
): void {
  sendBody(
    call.exchange,
    statusCode,
    contentTypeOf(options.representation.format),
    encodeObject(call.served, entry, options),
  );
}

/** Answers with an object that is in no store, in the version of `type`. */
export function sendUnstored<T extends ApiObject>(
  call: Call,
  statusCode: number,
  type: Pick<Expected, 'apiVersion' | 'kind'> & { readonly codec: Pick<Codec<T>, 'toProtobuf'> },
  object: T,
): void {
  const { apiVersion, kind, codec } = type;
  const representation = plainRepresentation(call);
  const body =
    representation.format === 'protobuf'
      ? wrapUnknown(apiVersion, kind, codec.toProtobuf(object))
      : encodeValue({ ...object, kind, apiVersion }, representation);
  sendBody(call.exchange, statusCode, contentTypeOf(representation.format), body);
}
