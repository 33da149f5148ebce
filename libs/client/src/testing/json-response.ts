/** A successful response with a JSON body, for clients without a network. */
import { BufferedResponse } from '../rest/response-body.js';
import type { RestResponse } from '../rest/rest-types.js';

export function jsonResponse(body: unknown): RestResponse {
  return new BufferedResponse(200, {}, Buffer.from(JSON.stringify(body)));
}
