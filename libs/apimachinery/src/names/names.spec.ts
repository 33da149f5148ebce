import { describe, expect, it } from 'vitest';
import { checkDns1123Label, checkPortName, checkQualifiedName } from './formats.js';
import { isCidr } from './ip.js';
import { generatedName, subdomainName } from './object-names.js';

describe('formats', () => {
  it('describe the expected format', () => {
    expect(checkDns1123Label('A_b')).toEqual([
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ]);
    expect(checkPortName('Too_Long_For_A_Port')).toEqual([
      'must be no more than 15 characters',
      'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
    ]);
    expect(checkQualifiedName('/x')).toEqual(['prefix part must be non-empty']);
    expect(checkQualifiedName('example.com/x')).toEqual([]);
  });
  it('distinguish CIDRs from addresses', () => {
    expect(['10.0.0.0/8', 'fd00::/64', '10.0.0.0/33', '10.0.0.0'].map(isCidr)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});

describe('object names', () => {
  it('allow a prefix to end in a dash', () => {
    expect(subdomainName('gen-', true)).toEqual([]);
    expect(subdomainName('gen-', false)).toHaveLength(1);
  });
  it('are generated from the prefix and five random characters', () => {
    expect(generatedName('gen-', () => 0)).toBe('gen-bbbbb');
    expect(generatedName('x'.repeat(80), () => 0.999)).toBe(`${'x'.repeat(58)}99999`);
  });
});
