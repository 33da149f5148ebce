/** Flags of OpenID Connect authentication. */
import { Flag, ValueError } from '@orch/component';
import { IsIn, Matches } from 'class-validator';

const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
];

export class OidcFlags {
  @Flag({
    name: 'oidc-issuer-url',
    description:
      'https URL of an OpenID Connect provider whose ID tokens authenticate users; the level below .well-known/openid-configuration. Empty: none',
    default: '',
  })
  @Matches(/^$|^https:\/\/[^\s?#]+$/, { message: 'must be an https URL without query' })
  issuerUrl!: string;

  @Flag({
    name: 'oidc-client-id',
    description: 'client that ID tokens must be issued for; required with --oidc-issuer-url',
    default: '',
  })
  clientId!: string;

  @Flag({
    name: 'oidc-ca-file',
    description: "PEM authorities of the provider's certificate; empty: those of Node.js",
    default: '',
  })
  caFile!: string;

  @Flag({
    name: 'oidc-username-claim',
    description:
      'claim with the user name, which must be unique and never be given to another user',
    default: 'sub',
  })
  usernameClaim!: string;

  @Flag({
    name: 'oidc-username-prefix',
    description:
      'prefix of user names, so that the provider cannot name users of other authenticators; - for none. Empty: the issuer and #, and none for the claim email',
    default: '',
  })
  usernamePrefix!: string;

  @Flag({
    name: 'oidc-groups-claim',
    description: 'claim with the groups of the user, a text or a list of texts; empty: no groups',
    default: '',
  })
  groupsClaim!: string;

  @Flag({
    name: 'oidc-groups-prefix',
    description: 'prefix of groups, so that the provider cannot name system groups',
    default: '',
  })
  groupsPrefix!: string;

  @Flag({
    name: 'oidc-required-claim',
    description: 'claim that ID tokens must have with this value, as key=value; may be repeated',
    type: 'texts',
  })
  requiredClaims: string[] = [];

  @Flag({
    name: 'oidc-signing-algs',
    description: `signature algorithms that are accepted: ${algorithms.join(', ')}`,
    default: 'RS256',
    type: 'list',
  })
  @IsIn(algorithms, { each: true })
  signingAlgorithms!: string[];
}

/** The required claims by name. Throws ValueError for one that is not key=value. */
export function requiredClaimsOf(texts: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    texts.map((text) => {
      const at = text.indexOf('=');
      if (at <= 0) throw new ValueError(`--oidc-required-claim: must be key=value, not "${text}"`);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}
