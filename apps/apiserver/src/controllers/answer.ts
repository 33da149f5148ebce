/** From Nest's request and reply to the pipeline that every request goes through. */

import { methodNotSupported } from '@orch/apimachinery';
import { type Admitted, ApiHandler, sendBody } from '@orch/apiserver';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Lets the request in and has it answered by `answer`, or refused in the interface's words. */
export function answerWith(
  api: ApiHandler,
  request: FastifyRequest,
  reply: FastifyReply,
  answer: (admitted: Admitted) => Promise<void> | void,
): Promise<void> {
  reply.hijack();
  return api.serve(request.raw, reply.raw, async (admitted) => answer(admitted));
}

/** Throws 405 for anything but a read. */
export function onlyGet({ exchange }: Admitted): void {
  if (exchange.request.method !== 'GET') throw methodNotSupported();
}

export function sendText(
  { exchange }: Admitted,
  statusCode: number,
  contentType: string,
  text: string,
): void {
  exchange.headers['x-content-type-options'] = 'nosniff';
  sendBody(exchange, statusCode, contentType, Buffer.from(text));
}

export function sendJson({ exchange }: Admitted, value: unknown): void {
  sendBody(exchange, 200, 'application/json', Buffer.from(JSON.stringify(value, null, 2)));
}
