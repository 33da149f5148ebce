/** The message of a response that is not a success, in the wording of the interface. */
import { isJsonObject } from '@orch/apimachinery';
import { reviewErrorLengthMax } from '../limits.js';
import type { HttpPostResponse } from './http-post.js';

const messages: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  410: 'the server could not find the requested resource',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};

export function isSuccess({ statusCode }: Pick<HttpPostResponse, 'statusCode'>): boolean {
  return statusCode >= 200 && statusCode <= 206;
}

/**
 * The message of a response that is not a success. That of a Status in the body is preferred; text
 * of the server is included where the interface does so, truncated.
 */
export function failureMessage({ statusCode, contentType, text }: HttpPostResponse): string {
  const isText = contentType === '' || contentType.startsWith('text/');
  if (!isText) {
    const message = messageOfStatus(text);
    if (message !== undefined) return message;
  }
  const sent = isText ? text.slice(0, reviewErrorLengthMax).trim() : 'unknown';
  const known = messages[statusCode];
  if (known !== undefined) return known;
  if (statusCode === 403) return sent;
  if (statusCode >= 500) {
    return `an error on the server (${JSON.stringify(sent)}) has prevented the request from succeeding`;
  }
  return `the server responded with the status code ${statusCode} but did not return more information`;
}

function messageOfStatus(text: string): string | undefined {
  const status = parsedOrUndefined(text);
  if (!isJsonObject(status) || status.kind !== 'Status') return undefined;
  const { message } = status;
  return typeof message === 'string' ? message.slice(0, reviewErrorLengthMax) : undefined;
}

function parsedOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
