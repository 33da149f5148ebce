/**
 * TLS settings of servers. AES-128-GCM is first because it is measurably faster for long responses
 * and strong enough. Client certificates are requested but optional: the authenticator decides.
 */

import type { TlsOptions } from 'node:tls';
import { knownKeys } from '../keys.js';
import type { KeyPairPem } from './certificate-request.js';

const tlsVersions = {
  VersionTLS10: 'TLSv1',
  VersionTLS11: 'TLSv1.1',
  VersionTLS12: 'TLSv1.2',
  VersionTLS13: 'TLSv1.3',
} as const;
export type TlsVersionName = keyof typeof tlsVersions;
export const tlsVersionNames = knownKeys(tlsVersions);

/** Always offered: a list of suites applies to TLS 1.2 and below. */
const tls13Suites = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
] as const;
/** Offered by default in this order, with their names in OpenSSL. */
const modernSuites = {
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
} as const;
/** Offered only if they are listed: without forward secrecy, or in CBC mode. */
const oldSuites = {
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: 'ECDHE-ECDSA-AES128-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: 'ECDHE-RSA-AES128-SHA256',
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
  TLS_RSA_WITH_AES_128_CBC_SHA256: 'AES128-SHA256',
} as const;
/** Other names of listed suites, as upstream accepts them. */
const suiteAliases = {
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305:
    modernSuites.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: modernSuites.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
} as const;
const listedSuites = { ...modernSuites, ...oldSuites, ...suiteAliases };
/** The names of all suites that can be listed. */
export const tlsCipherSuiteNames: readonly string[] = [...tls13Suites, ...knownKeys(listedSuites)];
/** Offered by default if the lowest version is below TLS 1.2. */
const suitesBelowTls12 = [
  oldSuites.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA,
  oldSuites.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA,
  oldSuites.TLS_RSA_WITH_AES_128_CBC_SHA,
] as const;
/** The library refuses versions below TLS 1.2 at its default level. */
const levelBelowTls12 = '@SECLEVEL=0';

export interface ServerTls {
  readonly pair: KeyPairPem;
  /**
   * Authorities whose client certificates are accepted, possibly none; if absent, no client
   * certificate is requested.
   */
  readonly clientAuthoritiesPem?: string;
  readonly minVersion: TlsVersionName;
  /** Suites of TLS 1.2 and below, from `tlsCipherSuiteNames`; empty: the modern ones. */
  readonly cipherSuites?: readonly string[];
}

export function serverTlsOptions(tls: ServerTls): TlsOptions {
  return {
    cert: tls.pair.certificatePem,
    key: tls.pair.keyPem,
    minVersion: tlsVersions[tls.minVersion],
    ciphers: offeredCiphers(tls).join(':'),
    honorCipherOrder: true,
    ...(tls.clientAuthoritiesPem !== undefined && {
      // An empty text would be replaced by the authorities of Node.js.
      ca: tls.clientAuthoritiesPem === '' ? [] : tls.clientAuthoritiesPem,
      requestCert: true,
      rejectUnauthorized: false,
    }),
  };
}

function offeredCiphers({ minVersion, cipherSuites = [] }: ServerTls): string[] {
  const isOld = minVersion === 'VersionTLS10' || minVersion === 'VersionTLS11';
  const listed = knownKeys(listedSuites).filter((name) => cipherSuites.includes(name));
  const below13 =
    cipherSuites.length > 0
      ? listed.map((name) => listedSuites[name])
      : [...Object.values(modernSuites), ...(isOld ? suitesBelowTls12 : [])];
  return [...tls13Suites, ...below13, ...(isOld ? [levelBelowTls12] : [])];
}
