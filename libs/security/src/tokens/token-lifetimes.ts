/** The lifetime of a requested service account token, under the limits of the flags. */

export interface TokenLifetimeOptions {
  /** The longest lifetime that a request gets; 0: no limit. */
  readonly secondsMax: number;
  /** Whether the tokens that admission injects into pods outlive the requested time. */
  readonly extendExpiration: boolean;
}

export interface TokenLifetime {
  /** The lifetime in the response. */
  readonly requestedSeconds: number;
  /** The lifetime in the token. */
  readonly seconds: number;
  /** Whether the token counts as stale after the requested time. */
  readonly isExtended: boolean;
}

/** The lifetime by which admission marks the tokens that it injects. */
const injectedSeconds = 3_607;
const extendedSeconds = 365 * 86_400;

/** `isForApi`: the token is bound to a pod, and for the API alone. */
export function tokenLifetime(
  wantedSeconds: number,
  isForApi: boolean,
  { secondsMax, extendExpiration }: TokenLifetimeOptions,
): TokenLifetime {
  const requestedSeconds = secondsMax > 0 ? Math.min(wantedSeconds, secondsMax) : wantedSeconds;
  const isExtended = extendExpiration && isForApi && requestedSeconds === injectedSeconds;
  return {
    requestedSeconds,
    seconds: isExtended ? extendedSeconds : requestedSeconds,
    isExtended,
  };
}
