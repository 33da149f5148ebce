/** The representation that a request selects: format, view and what tables include. */
import { badRequest, StatusError } from '@orch/apimachinery';
import type { RequestContext } from '../http/request-context.js';
import { negotiate, type Offer, type Representation, type View } from './accept.js';

export type IncludeObject = 'Metadata' | 'Object' | 'None';

export interface ViewOptions {
  readonly representation: Representation;
  readonly include: IncludeObject;
  readonly nowMs: number;
}

const objectOffer: Offer = { views: true, stream: false };
const plainOffer: Offer = { views: false, stream: false };
const streamOffer: Offer = { views: true, stream: true };
const customOffer: Offer = { ...objectOffer, isCustom: true };
const customStreamOffer: Offer = { ...streamOffer, isCustom: true };

/** Values of `pretty` that select indented JSON. */
const prettyValues: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);

function representationFor({ request, query }: RequestContext, offer: Offer): Representation {
  const representation = negotiate(request.headers.accept, offer);
  return !representation.pretty && prettyValues.has(query.get('pretty'))
    ? { ...representation, pretty: true }
    : representation;
}

/** How the client wants objects and lists. Throws 406. */
export function objectRepresentation(context: RequestContext): Representation {
  return representationFor(context, isCustom(context) ? customOffer : objectOffer);
}

function isCustom({ served }: RequestContext): boolean {
  return served?.definition.custom !== undefined;
}

/** For responses that have neither table nor metadata view. Throws 406. */
export function plainRepresentation(context: RequestContext): Representation {
  return representationFor(context, plainOffer);
}

export function streamRepresentation(context: RequestContext): Representation {
  return representationFor(context, isCustom(context) ? customStreamOffer : streamOffer);
}

export function includeOf(
  { query }: RequestContext,
  representation: Representation,
): IncludeObject {
  return representation.view === 'Table' ? includeObjectOf(query.get('includeObject')) : 'Metadata';
}

/** How the client wants one object. Throws 406. */
export function singleView(context: RequestContext): ViewOptions {
  const representation = objectRepresentation(context);
  checkViewFits(representation, false);
  return { representation, include: includeOf(context, representation), nowMs: context.nowMs };
}

/** How the client wants a list. Throws 406. */
export function listView(context: RequestContext): ViewOptions {
  const representation = objectRepresentation(context);
  checkViewFits(representation, true);
  return { representation, include: includeOf(context, representation), nowMs: context.nowMs };
}

/** Throws 406 for a list view of a single object, and for an object view of a list. */
export function checkViewFits(representation: Representation, list: boolean): void {
  const { view } = representation;
  if (view === 'PartialObjectMetadataList' && !list) {
    throw notAcceptableView(view, 'not a list');
  }
  if (view === 'PartialObjectMetadata' && list) throw notAcceptableView(view, 'a list');
}

function notAcceptableView(view: View, what: string): StatusError {
  return new StatusError({
    code: 406,
    reason: 'NotAcceptable',
    message: `you requested ${view}, but the requested object is ${what} (${view})`,
  });
}

/** The parameter `includeObject` of tables. Throws 400. */
export function includeObjectOf(value: string): IncludeObject {
  if (value === '' || value === 'Metadata') return 'Metadata';
  if (value === 'Object' || value === 'None') return value;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}
