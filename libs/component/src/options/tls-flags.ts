/** Flags of the TLS of servers. */
import { IsIn } from 'class-validator';
import { type TlsVersionName, tlsCipherSuiteNames, tlsVersionNames } from '../tls/tls-options.js';
import { Flag } from './flag.js';

export class TlsFlags {
  @Flag({
    name: 'tls-min-version',
    description: `lowest TLS version, one of ${tlsVersionNames.join(', ')}. Higher: old clients cannot connect. Lower: weak versions are accepted.`,
    default: 'VersionTLS12',
    type: 'string',
  })
  @IsIn(tlsVersionNames)
  minVersion!: TlsVersionName;

  @Flag({
    name: 'tls-cipher-suites',
    description: `cipher suites of TLS 1.2 and below, of ${tlsCipherSuiteNames.join(', ')}; those of TLS 1.3 are always offered. Empty: the suites with forward secrecy and authenticated encryption`,
    type: 'list',
  })
  @IsIn(tlsCipherSuiteNames, {
    each: true,
    message: `must be some of ${tlsCipherSuiteNames.join(', ')}`,
  })
  cipherSuites: string[] = [];
}
