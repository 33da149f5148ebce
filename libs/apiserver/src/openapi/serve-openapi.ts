/** Answers with OpenAPI documents, in the form that the client wants. */

import type { Query } from '../request/query.js';
import type { Exchange } from '../response/exchange.js';
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

/** The most wanted format that there is; undefined when there is none. `accept`: of the header. */
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
  exchange: Exchange,
): Promise<void> {
  const format = documentFormat(exchange.request.headers.accept);
  if (!format) return sendEmpty(exchange, 406);
  return sendDocument(exchange, await documents.whole(format));
}

/** `/openapi/v3`. */
export async function serveIndex(documents: OpenApiDocuments, exchange: Exchange): Promise<void> {
  if (documentFormat(exchange.request.headers.accept) !== 'json') return sendEmpty(exchange, 406);
  return sendDocument(exchange, await documents.index());
}

/**
 * `/openapi/v3/<place>`. A request that names the hash of the document may keep the answer for ever;
 * one that names another hash is sent to the right address.
 */
export async function serveGroupVersion(
  documents: OpenApiDocuments,
  exchange: Exchange,
  place: string,
  query: Query,
): Promise<void> {
  const pending = documents.ofGroupVersion(place);
  if (!pending) return sendNotFoundText(exchange);
  if (documentFormat(exchange.request.headers.accept) !== 'json') return sendEmpty(exchange, 406);
  const document = await pending;
  const hash = query.get('hash');
  if (hash !== '' && hash !== document.hash) {
    exchange.headers.location = urlOf(place, document.hash);
    return sendEmpty(exchange, 301);
  }
  if (hash !== '') {
    exchange.headers['cache-control'] = `public, immutable, max-age=${secondsOfYear}`;
  }
  return sendDocument(exchange, document);
}
