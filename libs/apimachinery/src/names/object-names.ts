/**
 * Formats of metadata.name by kind, and generated names. A prefix (`generateName`) may end in a
 * dash, because random characters follow.
 */
import {
  checkDns1035Label,
  checkDns1123Label,
  checkDns1123Subdomain,
  checkPathSegment,
  checkPathSegmentPart,
} from './formats.js';

/** Returns error messages for a name or a prefix. */
export type NameFormat = (name: string, prefix: boolean) => readonly string[];

function maskTrailingDash(name: string): string {
  return name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name;
}

function withPrefix(check: (name: string) => readonly string[]): NameFormat {
  return (name, prefix) => check(prefix ? maskTrailingDash(name) : name);
}

export const subdomainName: NameFormat = withPrefix(checkDns1123Subdomain);
export const labelName: NameFormat = withPrefix(checkDns1123Label);
export const label1035Name: NameFormat = withPrefix(checkDns1035Label);
/** Any name that is a valid path segment. */
export const pathSegmentName: NameFormat = (name, prefix) =>
  prefix ? checkPathSegmentPart(name) : checkPathSegment(name);

const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
/** Longest prefix that still fits into a DNS label with the suffix. */
const prefixLengthMax = 63 - suffixLength;

/** `random`: uniform in [0, 1). */
export function randomSuffix(random: () => number, length: number = suffixLength): string {
  let suffix = '';
  for (let index = 0; index < length; index += 1) {
    suffix += suffixAlphabet[Math.floor(random() * suffixAlphabet.length)];
  }
  return suffix;
}

/** The prefix, truncated if necessary, and five random characters. */
export function generatedName(prefix: string, random: () => number): string {
  return prefix.slice(0, prefixLengthMax) + randomSuffix(random);
}
