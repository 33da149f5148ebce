/** The request that authenticators read credentials from: its headers and its connection. */
import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';

export type AuthenticationRequest = IncomingMessage | Http2ServerRequest;
