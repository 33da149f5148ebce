/**
 * Checks that an aggregated API server responds to discovery requests. Any certificate will do: the
 * condition reports whether the server runs, not whether it is trusted.
 */
import { errorMessage } from '@orch/component';
import {
  aggregatedDiscoveryBytesMax,
  aggregatedDiscoveryTimeoutMs,
  availabilityAttemptsMax,
} from '../limits.js';
import type { AggregatedServer } from './aggregated-server.js';
import { requestServer } from './server-request.js';

/** Returns why the server is not available; undefined: it is. Ends early when `signal` aborts. */
export async function checkAvailability(
  server: AggregatedServer,
  signal: AbortSignal,
): Promise<string | undefined> {
  const failure = await attempt(server, signal);
  if (failure === undefined) return undefined;
  // Each attempt chooses an endpoint at random: one endpoint that fails does not fail the service.
  const others = Array.from({ length: availabilityAttemptsMax - 1 }, () => attempt(server, signal));
  const results = await Promise.all(others);
  return results.includes(undefined) ? undefined : failure;
}

async function attempt(server: AggregatedServer, signal: AbortSignal): Promise<string | undefined> {
  const path = server.discoveryPath;
  try {
    const { url, statusCode } = await requestServer(server, {
      path,
      accept: 'application/json',
      timeoutMs: aggregatedDiscoveryTimeoutMs,
      bytesMax: aggregatedDiscoveryBytesMax,
      verify: false,
      signal,
    });
    if (statusCode >= 200 && statusCode < 300) return undefined;
    return `failing or missing response from ${url}: bad status from ${url}: ${statusCode}`;
  } catch (error) {
    const message = errorMessage(error);
    const url = /^Get "([^"]+)": /.exec(message)?.[1];
    return url === undefined ? message : `failing or missing response from ${url}: ${message}`;
  }
}
