/** Serves OpenAPI documents in the format that the client accepts. */

import type { Query } from '../http/query.js';
import type { RequestContext } from '../http/request-context.js';
import { sendDocument, sendEmpty } from '../response/rendered-document.js';
import { sendNotFoundText } from '../response/unknown-path.js';
import { type DocumentFormat, type OpenApiDocuments, urlOf } from './openapi-documents.js';

const secondsOfYear = 31_536_000;

const formatsByType: Readonly<Record<string, DocumentFormat>> = {
  'application/json': 'json',
  'application/*': 'json',
  '*/*': 'json',
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf': 'protobuf',
  'application/com.github.proto-openapi.spec.v2.v1.0+protobuf': 'protobuf',
};

/** The preferred supported format; undefined if none is supported. `accept`: the header. */
export function documentFormat(accept: string | undefined): DocumentFormat | undefined {
  if (accept === undefined || accept.trim() === '') return 'json';
  const clauses = accept.split(',').map((text) => {
    const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    return { type, quality: quality === undefined ? 1 : Number(quality) };
  });
  clauses.sort((a, b) => b.quality - a.quality);
  for (const { type, quality } of clauses) {
    const format = quality > 0 ? formatsByType[type] : undefined;
    if (format) return format;
  }
  return undefined;
}

/** `/openapi/v2`. */
export async function serveWholeDocument(
  documents: OpenApiDocuments,
  context: RequestContext,
): Promise<void> {
  const format = documentFormat(context.request.headers.accept);
  if (!format) return sendEmpty(context, 406);
  return sendDocument(context, await documents.whole(format));
}

/** `/openapi/v3`. */
export async function serveIndex(
  documents: OpenApiDocuments,
  context: RequestContext,
): Promise<void> {
  if (documentFormat(context.request.headers.accept) !== 'json') return sendEmpty(context, 406);
  return sendDocument(context, await documents.index());
}

/**
 * `/openapi/v3/<place>`. The response to a request with the hash of the document may be cached
 * permanently; a request with another hash is redirected.
 */
export async function serveGroupVersion(
  documents: OpenApiDocuments,
  context: RequestContext,
  place: string,
  query: Query,
): Promise<void> {
  const pending = documents.ofGroupVersion(place);
  if (!pending) return sendNotFoundText(context);
  if (documentFormat(context.request.headers.accept) !== 'json') return sendEmpty(context, 406);
  const document = await pending;
  const hash = query.get('hash');
  if (hash !== '' && hash !== document.hash) {
    context.headers.location = urlOf(place, document.hash);
    return sendEmpty(context, 301);
  }
  if (hash !== '') {
    context.headers['cache-control'] = `public, immutable, max-age=${secondsOfYear}`;
  }
  return sendDocument(context, document);
}
