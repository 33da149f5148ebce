/** Request contexts for tests. */
import { FeatureGates, systemClock } from '@orch/component';
import {
  type RawRequest,
  type RawResponse,
  RequestContext,
  type RequestContextOptions,
} from '../http/request-context.js';
import type { ClientUpgrade } from '../http/upgrade.js';

export function testContext(
  request: RawRequest,
  response: RawResponse,
  options: Partial<RequestContextOptions> = {},
  upgrade?: ClientUpgrade,
): RequestContext {
  const all: RequestContextOptions = {
    clock: systemClock,
    features: new FeatureGates('apiserver'),
    requestTimeoutMs: 60_000,
    compression: true,
    warningHeaders: true,
    strictTransportSecurity: '',
    ...options,
  };
  return new RequestContext(request, response, all, upgrade);
}
