/** Errors that clients expect as plain text. */
import type { RequestContext } from '../http/request-context.js';
import { isClosed, sendBody } from '../http/respond.js';

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Responds with 500; the text names the path of the request. */
export function sendErrorText(context: RequestContext, message: string): void {
  if (isClosed(context.response)) return;
  const text = `Internal Server Error: ${JSON.stringify(context.request.url ?? '')}: ${message}`;
  const escaped = text.replace(/[&<>]/g, (character) => escapes[character]!);
  sendPlainText(context, 500, `${escaped}\n`);
}

/** Responds with the text as it is. */
export function sendPlainText(context: RequestContext, statusCode: number, text: string): void {
  sendBody(context, statusCode, 'text/plain; charset=utf-8', Buffer.from(text));
}
