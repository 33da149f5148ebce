/** Certificate extensions for the key usages of the API, such as `client auth`. */
import 'reflect-metadata';
import {
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
} from '@peculiar/x509';
import { CertificateRequestError } from './certificate-request.js';

const flags: Readonly<Record<string, KeyUsageFlags>> = {
  signing: KeyUsageFlags.digitalSignature,
  'digital signature': KeyUsageFlags.digitalSignature,
  'content commitment': KeyUsageFlags.nonRepudiation,
  'key encipherment': KeyUsageFlags.keyEncipherment,
  'key agreement': KeyUsageFlags.keyAgreement,
  'data encipherment': KeyUsageFlags.dataEncipherment,
  'cert sign': KeyUsageFlags.keyCertSign,
  'crl sign': KeyUsageFlags.cRLSign,
  'encipher only': KeyUsageFlags.encipherOnly,
  'decipher only': KeyUsageFlags.decipherOnly,
};

/** Object identifiers, in the order of extensions. */
const extended: Readonly<Record<string, string>> = {
  any: '2.5.29.37.0',
  'server auth': '1.3.6.1.5.5.7.3.1',
  'client auth': '1.3.6.1.5.5.7.3.2',
  'code signing': '1.3.6.1.5.5.7.3.3',
  'email protection': '1.3.6.1.5.5.7.3.4',
  's/mime': '1.3.6.1.5.5.7.3.4',
  'ipsec end system': '1.3.6.1.5.5.7.3.5',
  'ipsec tunnel': '1.3.6.1.5.5.7.3.6',
  'ipsec user': '1.3.6.1.5.5.7.3.7',
  timestamping: '1.3.6.1.5.5.7.3.8',
  'ocsp signing': '1.3.6.1.5.5.7.3.9',
  'microsoft sgc': '1.3.6.1.4.1.311.10.3.3',
  'netscape sgc': '2.16.840.1.113730.4.1',
};

/** Throws `CertificateRequestError` for an unknown usage. */
export function usageExtensions(usages: readonly string[]): Extension[] {
  const isKnown = (usage: string) => Object.hasOwn(flags, usage) || Object.hasOwn(extended, usage);
  const unknown = usages.filter((usage) => !isKnown(usage));
  if (unknown.length > 0) {
    throw new CertificateRequestError(
      `unrecognized usage values: ${unknown.map((usage) => JSON.stringify(usage)).join(' ')}`,
    );
  }
  const bits = usages.reduce((sum, usage) => sum | (flags[usage] ?? 0), 0);
  const named = Object.keys(extended).filter((usage) => usages.includes(usage));
  const identifiers = [...new Set(named.map((usage) => extended[usage]!))];
  return [
    ...(bits === 0 ? [] : [new KeyUsagesExtension(bits, true)]),
    ...(identifiers.length === 0 ? [] : [new ExtendedKeyUsageExtension(identifiers)]),
  ];
}
