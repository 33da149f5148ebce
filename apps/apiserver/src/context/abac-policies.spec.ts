import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FatalError } from '@orch/component';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { abacPolicies } from './abac-policies.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'orch-abac-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

it('requires the mode and the file together', () => {
  expect(() => abacPolicies({ modes: ['RBAC', 'ABAC'], policyFile: '' })).toThrow(FatalError);
  expect(() => abacPolicies({ modes: ['RBAC'], policyFile: 'f' })).toThrow(
    'cannot specify --authorization-policy-file without mode ABAC',
  );
  expect(abacPolicies({ modes: ['RBAC'], policyFile: '' })).toBeDefined();
});

it('names the flag, the file and the line of a mistake', () => {
  const policyFile = join(directory, 'policies.jsonl');
  writeFileSync(policyFile, '# all\n{}\n{"usr":"ann"}\n');
  const read = () => abacPolicies({ modes: ['ABAC'], policyFile });
  expect(read).toThrow(FatalError);
  expect(read).toThrow(`--authorization-policy-file: ${policyFile} line 3: unknown field usr`);
});
