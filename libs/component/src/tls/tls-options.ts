/**
 * TLS settings of servers. AES-128-GCM stands first because it is measurably faster on long answers and
 * strong enough. Client certificates are asked for but not demanded: authentication decides.
 */
import type { TlsOptions } from 'node:tls';
import type { KeyPairPem } from './certificate-request.js';

const tlsVersions = {
  VersionTLS10: 'TLSv1',
  VersionTLS11: 'TLSv1.1',
  VersionTLS12: 'TLSv1.2',
  VersionTLS13: 'TLSv1.3',
} as const;
export type TlsVersionName = keyof typeof tlsVersions;
export const tlsVersionNames = Object.keys(tlsVersions) as TlsVersionName[];

const modernCiphers = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
] as const;
/** Only where the lowest version asks for them. */
const oldCiphers = [
  'ECDHE-ECDSA-AES128-SHA',
  'ECDHE-RSA-AES128-SHA',
  'AES128-SHA',
  '@SECLEVEL=0',
] as const;

export interface ServerTls {
  readonly pair: KeyPairPem;
  /** Authorities whose client certificates are accepted; none: no certificate is asked for. */
  readonly clientAuthoritiesPem?: string;
  readonly minVersion: TlsVersionName;
}

export function serverTlsOptions(tls: ServerTls): TlsOptions {
  const old = tls.minVersion === 'VersionTLS10' || tls.minVersion === 'VersionTLS11';
  return {
    cert: tls.pair.certificatePem,
    key: tls.pair.keyPem,
    minVersion: tlsVersions[tls.minVersion],
    ciphers: [...modernCiphers, ...(old ? oldCiphers : [])].join(':'),
    honorCipherOrder: true,
    ...(tls.clientAuthoritiesPem !== undefined && {
      ca: tls.clientAuthoritiesPem,
      requestCert: true,
      rejectUnauthorized: false,
    }),
  };
}
