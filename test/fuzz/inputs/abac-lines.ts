/** Lines of policy files, in both forms, valid and damaged. */
import { dialect } from '@orch/component';
import fc from 'fast-check';
import { damagedText } from './bytes.js';
import { changedJson, jsonText, jsonTokens } from './json.js';

const fields = {
  user: fc.constantFrom('ann', 'bob', '*', ''),
  group: fc.constantFrom('dev', 'ops', '*', '', 'system:authenticated'),
  readonly: fc.boolean(),
  namespace: fc.constantFrom('a', 'b', '*', ''),
  resource: fc.constantFrom('pods', 'secrets', '*', ''),
};

const older = fc.record(fields, { requiredKeys: [] });

const current = fc
  .record(
    {
      ...fields,
      apiGroup: fc.constantFrom('', 'apps', '*'),
      nonResourcePath: fc.constantFrom('/a', '/a/*', '*', '/*/b', '/a/**', '', '/'),
    },
    { requiredKeys: [] },
  )
  .map((spec) => ({
    apiVersion: dialect().apiVersion('abac.authorization', 'v1beta1'),
    kind: 'Policy',
    spec,
  }));

const valid = fc.oneof<fc.Arbitrary<object>[]>(older, current);
const names = ['user', 'readonly', 'readOnly', 'spec', 'apiVersion', 'kind', 'nonResourcePath'];

const line = fc.oneof(
  { weight: 8, arbitrary: valid.map((object) => JSON.stringify(object)) },
  { weight: 2, arbitrary: changedJson(valid, names).map(jsonText) },
  {
    weight: 2,
    arbitrary: damagedText(
      valid.map((object) => JSON.stringify(object)),
      [...jsonTokens, '"readonly":false,', '\n', '#'],
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom('', '# a comment', '  ', '#{}', '\ufeff{}') },
);

export const abacLines: fc.Arbitrary<string[]> = fc.array(line, { maxLength: 4 });
