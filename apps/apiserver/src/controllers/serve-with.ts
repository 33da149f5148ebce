/** Passes Nest's request and reply to the filters of all requests. */

import { methodNotSupported } from '@orch/apimachinery';
import { type RequestContext, RequestHandler, sendBody } from '@orch/apiserver';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Runs the filters, then `handle`; errors become a Status. */
export function serveWith(
  requests: RequestHandler,
  request: FastifyRequest,
  reply: FastifyReply,
  handle: (context: RequestContext) => Promise<void> | void,
): Promise<void> {
  reply.hijack();
  return requests.serve(request.raw, reply.raw, async (context) => handle(context));
}

/** Throws 405 for anything but a read. */
export function onlyGet({ request }: RequestContext): void {
  if (request.method !== 'GET') throw methodNotSupported();
}

export function sendText(
  context: RequestContext,
  statusCode: number,
  contentType: string,
  text: string,
): void {
  sendBody(context, statusCode, contentType, Buffer.from(text));
}

export function sendJson(context: RequestContext, value: unknown): void {
  sendBody(context, 200, 'application/json', Buffer.from(JSON.stringify(value, null, 2)));
}
