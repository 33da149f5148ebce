/** Answers for paths that lead nowhere. */
import { type Exchange, sendBody } from './exchange.js';

const notFoundText = Buffer.from('404 page not found\n');

/** Paths outside the API are answered with those that there are. */
export function sendUnknownPath(exchange: Exchange, paths: readonly string[]): void {
  sendBody(exchange, 404, 'application/json', Buffer.from(JSON.stringify({ paths }, null, 2)));
}

export function sendNotFoundText(exchange: Exchange): void {
  exchange.headers['x-content-type-options'] = 'nosniff';
  sendBody(exchange, 404, 'text/plain; charset=utf-8', notFoundText);
}
