/** Responses for unknown paths. */
import type { RequestContext } from '../http/request-context.js';
import { sendBody } from '../http/respond.js';

const notFoundText = Buffer.from('404 page not found\n');

/** Responds to a path outside the API with the list of valid paths. */
export function sendUnknownPath(context: RequestContext, paths: readonly string[]): void {
  sendBody(context, 404, 'application/json', Buffer.from(JSON.stringify({ paths }, null, 2)));
}

export function sendNotFoundText(context: RequestContext): void {
  sendBody(context, 404, 'text/plain; charset=utf-8', notFoundText);
}
