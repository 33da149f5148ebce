/**
 * The URL at which the holder of a Lease serves, in an annotation of the Lease, so that clients
 * find the process that makes the decisions.
 */
import { dialect, reachableAddress, type ServingOptions, urlHost } from '@orch/component';
import type { Lease } from '@orch/types/coordination/v1';

type Annotations = Readonly<Record<string, string>>;

function servingUrlKey(): string {
  return dialect().key('serving-url', 'leader');
}

/** Returns the annotations with the URL of this holder; without that of an earlier one. */
export function withServingUrl(
  annotations: Annotations = {},
  url: string | undefined,
): Record<string, string> {
  const { [servingUrlKey()]: _earlier, ...others } = annotations;
  return url ? { ...others, [servingUrlKey()]: url } : others;
}

/**
 * Returns the URL of the holder; undefined if the lease has no holder or the holder serves nothing.
 */
export function servingUrlOf({ metadata, spec }: Lease): string | undefined {
  return spec?.holderIdentity ? metadata?.annotations?.[servingUrlKey()] : undefined;
}

/** Returns the URL of the server with these options; undefined if it is disabled. */
export function servingUrl(
  options: Pick<ServingOptions, 'bindAddress' | 'securePort'>,
): string | undefined {
  const { bindAddress, securePort } = options;
  if (securePort === 0) return undefined;
  return `https://${urlHost(reachableAddress(bindAddress))}:${securePort}`;
}
