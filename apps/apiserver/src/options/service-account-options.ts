/** Flags of service account tokens. */
import { Flag } from '@orch/component';
import { Matches, Validate, ValidatorConstraint } from 'class-validator';

const hourMs = 3_600_000;
const secondsMax = 2 ** 32;

@ValidatorConstraint({ name: 'zeroOrFromAnHour' })
class ZeroOrFromAnHour {
  validate(value: number): boolean {
    return value === 0 || (value >= hourMs && value <= secondsMax * 1_000);
  }

  defaultMessage(): string {
    return 'must be 0 or between 1 hour and 2^32 seconds';
  }
}

export class ServiceAccountOptions {
  @Flag({
    name: 'service-account-signing-key-file',
    description:
      'PEM private key (RSA or EC) that signs service account tokens, the same for all servers of a cluster; empty: a generated key in the data directory',
    default: '',
  })
  signingKeyFile!: string;

  @Flag({
    name: 'service-account-key-file',
    description:
      'PEM keys, private or public, that verify service account tokens in addition to the signing key; may be repeated',
    type: 'texts',
  })
  keyFiles: string[] = [];

  @Flag({
    name: 'service-account-issuer',
    description:
      "issuer URL of service account tokens, such as https://id.example; empty: the URL of the API's own service. A change invalidates all tokens",
    default: '',
  })
  @Matches(/^$|^https:\/\/[^\s?#]+$/, { message: 'must be an https URL without query' })
  issuer!: string;

  @Flag({
    name: 'service-account-jwks-uri',
    description:
      'https URL from which others fetch the keys of the issuer; empty: the URL of this server',
    default: '',
  })
  @Matches(/^$|^https:\/\/[^\s]+$/, { message: 'must be an https URL' })
  keySetUri!: string;

  @Flag({
    name: 'service-account-lookup',
    description:
      'accept a token without expiry only as long as its secret stores it; off: such tokens cannot be revoked',
    default: true,
  })
  lookup!: boolean;

  @Flag({
    name: 'service-account-max-token-expiration',
    description:
      'longest lifetime of a requested token; 0 is no limit. Higher: a stolen token works longer. Lower: clients request tokens more often.',
    default: '0s',
    type: 'duration',
  })
  @Validate(ZeroOrFromAnHour)
  maxTokenExpirationMs!: number;

  @Flag({
    name: 'service-account-extend-token-expiration',
    description:
      'let the tokens that admission injects into pods live for a year, for clients that do not read a new token; a use after the requested time counts as stale in the metrics. Off: a stolen token works for an hour',
    default: true,
  })
  extendTokenExpiration!: boolean;
}
