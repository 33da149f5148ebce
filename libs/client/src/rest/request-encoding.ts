/** Encodes headers, query and body of a request. Pure except for a call for the token. */
import { dialect } from '@orch/component';
import type { RequestOptions, RestClientOptions } from './rest-types.js';

/** Headers that all requests of a client have. */
export function fixedHeaders(options: RestClientOptions): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {
    accept: 'application/json',
    'user-agent': options.userAgent ?? dialect().systemName('client'),
  };
  if (options.basicAuth) {
    const { username, password } = options.basicAuth;
    headers.authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  }
  if (options.impersonate) {
    headers['impersonate-user'] = options.impersonate.user;
    if (options.impersonate.uid) headers['impersonate-uid'] = options.impersonate.uid;
    if (options.impersonate.groups?.length) {
      headers['impersonate-group'] = [...options.impersonate.groups];
    }
  }
  return headers;
}

export function queryString(query: RequestOptions['query']): string {
  if (!query) return '';
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    if (Array.isArray(value)) for (const one of value) parameters.append(name, one);
    else parameters.append(name, String(value));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

export function singleHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

export interface EncodedRequest {
  readonly headers: Record<string, string | string[]>;
  readonly body: string | Uint8Array | null;
}

/** A body that is neither text nor bytes becomes JSON. */
export function encodeRequest(
  request: RequestOptions,
  fixed: Readonly<Record<string, string | string[]>>,
  token: RestClientOptions['token'],
): EncodedRequest {
  const headers: Record<string, string | string[]> = { ...fixed };
  const bearer = typeof token === 'function' ? token() : token;
  if (bearer) headers.authorization = `Bearer ${bearer}`;
  let body: string | Uint8Array | null = null;
  if (typeof request.body === 'string' || request.body instanceof Uint8Array) body = request.body;
  else if (request.body !== undefined) body = JSON.stringify(request.body);
  if (body !== null) headers['content-type'] = 'application/json';
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    headers[name.toLowerCase()] = value;
  }
  return { headers, body };
}
