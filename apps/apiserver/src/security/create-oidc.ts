/** Creates the authenticator of ID tokens that the flags configure. */
import { exitCodes, FatalError, systemClock } from '@orch/component';
import { OidcProvider, oidcAuthenticator, type TokenAuthenticator } from '@orch/security';
import type { ApiServerContext } from '../context/api-server-context.js';
import { requiredClaimsOf } from '../options/oidc-options.js';
import { readPem } from '../options/pem-files.js';

/** Undefined: no provider is configured. Rejects with FatalError if a flag is invalid. */
export async function createOidc(
  { options, logger }: ApiServerContext,
  apiAudiences: readonly string[],
): Promise<TokenAuthenticator | undefined> {
  const { oidc } = options;
  if (oidc.issuerUrl === '') return undefined;
  if (oidc.clientId === '') {
    throw new FatalError(
      exitCodes.usage,
      '--oidc-client-id is missing; --oidc-issuer-url requires it',
    );
  }
  // Loaded only by servers that have a provider.
  const { Agent, fetch } = await import('undici');
  const ca = readPem(oidc.caFile);
  const dispatcher = new Agent({ connect: ca === undefined ? {} : { ca } });
  const provider = new OidcProvider({
    issuer: oidc.issuerUrl,
    fetch: (url, { signal }) => fetch(url, { signal, dispatcher, redirect: 'error' }),
    clock: systemClock,
    logger,
  });
  return oidcAuthenticator({
    provider,
    apiAudiences,
    clock: systemClock,
    options: {
      issuer: oidc.issuerUrl,
      clientId: oidc.clientId,
      algorithms: oidc.signingAlgorithms,
      usernameClaim: oidc.usernameClaim,
      usernamePrefix: oidc.usernamePrefix,
      groupsClaim: oidc.groupsClaim,
      groupsPrefix: oidc.groupsPrefix,
      requiredClaims: requiredClaimsOf(oidc.requiredClaims),
    },
  });
}
