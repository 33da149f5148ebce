/** Encodes headers, query and body of a request. Pure except for a call for the token. */
import { dialect } from '@orch/component';
import { protobufBody } from './protobuf-body.js';
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
  let parameters: URLSearchParams | undefined;
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    parameters ??= new URLSearchParams();
    if (Array.isArray(value)) for (const one of value) parameters.append(name, one);
    else parameters.append(name, String(value));
  }
  const text = parameters?.toString() ?? '';
  return text === '' ? '' : `?${text}`;
}

export function singleHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

export interface EncodedRequest {
  readonly headers: Record<string, string | string[]>;
  readonly body: string | Uint8Array | null;
}

/** A body that is neither text nor bytes becomes JSON, or protobuf if the client sends it. */
export function encodeRequest(
  request: RequestOptions,
  fixed: Readonly<Record<string, string | string[]>>,
  { token, sendsProtobuf }: Pick<RestClientOptions, 'token' | 'sendsProtobuf'>,
): EncodedRequest {
  const headers: Record<string, string | string[]> = { ...fixed };
  const bearer = typeof token === 'function' ? token() : token;
  if (bearer) headers.authorization = `Bearer ${bearer}`;
  const encoded = sendsProtobuf ? protobufBody(request) : undefined;
  const body = encoded ?? textBody(request.body);
  if (encoded) headers['content-type'] = dialect().protobufMediaType;
  else if (body !== null) headers['content-type'] = 'application/json';
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    headers[name.toLowerCase()] = value;
  }
  return { headers, body };
}

function textBody(body: unknown): string | Uint8Array | null {
  if (body === undefined) return null;
  return typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
}
