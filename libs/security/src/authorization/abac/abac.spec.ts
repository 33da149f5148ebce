import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dialect } from '@orch/component';
import { expect, it } from 'vitest';
import { anonymousUser, authenticated } from '../../authentication/user.js';
import type { RequestAttributes } from '../attributes.js';
import { abacAuthorizer, abacRules } from './abac-authorizer.js';
import { AbacFileError, parseAbacFile, readAbacFile } from './abac-file.js';

const apiVersion = () => dialect().apiVersion('abac.authorization', 'v1beta1');
const line = (spec: object) => JSON.stringify({ apiVersion: apiVersion(), kind: 'Policy', spec });
const ann = authenticated('ann', '', ['dev']);
const everything = { namespace: '*', resource: '*', apiGroup: '*' };

const getPods: RequestAttributes = {
  isResource: true,
  verb: 'get',
  path: '',
  group: '',
  version: 'v1',
  namespace: 'ns',
  resource: 'pods',
  subresource: '',
  name: 'p',
};
const getPath = (path: string) => ({ isResource: false, path, namespace: '', resource: '' });

async function isAllowed(text: string, asked: Partial<RequestAttributes> = {}, user = ann) {
  const authorize = abacAuthorizer(parseAbacFile(text, 'file'));
  return (await authorize({ user, info: { ...getPods, ...asked } })).verdict === 'allow';
}

it.each([
  ['the user', { user: 'ann' }, true],
  ['another user', { user: 'bob' }, false],
  ['every user', { user: '*' }, true],
  ['a group of the user', { group: 'dev' }, true],
  ['another group', { group: 'ops' }, false],
  ['every group', { group: '*' }, true],
  ['the user and another group', { user: 'ann', group: 'ops' }, false],
  ['the user and a group of the user', { user: 'ann', group: 'dev' }, true],
  ['another user and a group of the user', { user: 'bob', group: 'dev' }, false],
  ['nobody', {}, false],
])('applies a policy of %s', async (_what, subject, expected) => {
  expect(await isAllowed(line({ ...everything, ...subject }))).toBe(expected);
});

it('excludes anonymous requests from *', async () => {
  const text = line({ ...everything, user: '*', nonResourcePath: '*' });
  expect(await isAllowed(text, {}, anonymousUser)).toBe(false);
  expect(await isAllowed(line({ ...everything, group: 'system:unauthenticated' }), {}, ann)).toBe(
    false,
  );
});

it.each<[object, Partial<RequestAttributes>, boolean]>([
  [{ namespace: 'ns', resource: 'pods' }, {}, true],
  [{ namespace: 'ns', resource: 'pods' }, { subresource: 'log' }, true],
  [{ namespace: 'ns', resource: 'pods' }, { namespace: 'other' }, false],
  [{ namespace: 'ns', resource: 'pods' }, { group: 'apps' }, false],
  [{ namespace: 'ns', resource: 'pods', apiGroup: '*' }, { group: 'apps' }, true],
  [{ namespace: 'ns', resource: 'secrets' }, {}, false],
  [{ resource: 'pods' }, {}, false],
  [{ resource: 'pods' }, { namespace: '' }, true],
  [{ ...everything, readonly: true }, { verb: 'list' }, true],
  [{ ...everything, readonly: true }, { verb: 'watch' }, true],
  [{ ...everything, readonly: true }, { verb: 'delete' }, false],
  [{ ...everything, readonly: false }, { verb: 'delete' }, true],
  [everything, getPath('/version'), false],
  [{ nonResourcePath: '/version' }, getPath('/version'), true],
  [{ nonResourcePath: '/version' }, getPath('/version/'), false],
  [{ nonResourcePath: '/logs/*' }, getPath('/logs/a/b'), true],
  [{ nonResourcePath: '/logs/**' }, getPath('/logs/a'), true],
  [{ nonResourcePath: '/*/a' }, getPath('/b/a'), false],
  [{ nonResourcePath: '*' }, getPath('/logs'), true],
  [{ nonResourcePath: '*' }, {}, false],
  [{ nonResourcePath: '*', readonly: true }, { ...getPath('/logs'), verb: 'post' }, false],
])('decides by %j about %j', async (spec, asked, expected) => {
  expect(await isAllowed(line({ user: 'ann', ...spec }), asked)).toBe(expected);
});

it.each<[object, Partial<RequestAttributes>, boolean]>([
  [{}, {}, true],
  [{}, getPath('/version'), true],
  [{ user: 'ann' }, { group: 'apps', namespace: '' }, true],
  [{ user: 'bob' }, {}, false],
  [{ user: 'ann', group: '*' }, {}, true],
  [{ resource: 'pods' }, getPath('/version'), false],
  [{ namespace: 'ns' }, { resource: 'secrets' }, true],
  [{ namespace: 'ns' }, { namespace: 'other' }, false],
  [{ readonly: true }, { verb: 'create' }, false],
])('decides by the older form %j about %j', async (policy, asked, expected) => {
  expect(await isAllowed(JSON.stringify(policy), asked)).toBe(expected);
  expect(await isAllowed(JSON.stringify(policy), asked, anonymousUser)).toBe(false);
});

it('skips comments and gives a reason if no policy matches', async () => {
  const authorize = abacAuthorizer(parseAbacFile(`# ann\n\n  \n${line({ user: 'bob' })}\r\n`, 'f'));
  expect(await authorize({ user: ann, info: getPods })).toEqual({
    verdict: 'no opinion',
    reason: 'No policy matched.',
  });
});

it.each([
  ['not JSON', '{"user":', /^f line 2: .*JSON/],
  ['no object', '[]', 'f line 2: the line is not an object'],
  ['an unknown field', '{"readOnly":true}', 'f line 2: unknown field readOnly'],
  ['an inherited name', '{"__proto__":{}}', 'f line 2: unknown field __proto__'],
  ['a wrong type', '{"readonly":"true"}', 'f line 2: readonly is not a boolean'],
  ['a repeated field', '{"readonly":true,"readonly":false}', 'f line 2: a field is repeated'],
  ['an API group in the older form', '{"apiGroup":"*"}', 'f line 2: unknown field apiGroup'],
  ['another kind', '{"kind":"Role"}', 'or neither'],
  ['a long line', `{"user":"${'a'.repeat(70_000)}"}`, 'f line 2: longer than 65536 characters'],
])('refuses a file with %s and names the line', (_what, text, message) => {
  expect(() => parseAbacFile(`{}\n${text}\n`, 'f')).toThrow(AbacFileError);
  expect(() => parseAbacFile(`{}\n${text}\n`, 'f')).toThrow(message);
});

it('refuses unknown fields beside and in the spec, and a spec that is no object', () => {
  const head = { apiVersion: apiVersion(), kind: 'Policy' };
  const refusal = (extra: object) => () =>
    parseAbacFile(JSON.stringify({ ...head, ...extra }), 'f');
  expect(refusal({ user: 'ann' })).toThrow('f line 1: unknown field user');
  expect(refusal({ spec: { verbs: ['get'] } })).toThrow('f line 1: unknown field spec.verbs');
  expect(refusal({ spec: null })).toThrow('f line 1: spec is not an object');
  expect(refusal({ apiVersion: 'other/v1beta1', spec: {} })).toThrow('expected apiVersion');
});

it('lists the rules of the policies that apply to the user in the namespace', async () => {
  const text = [
    line({ user: 'ann', namespace: 'ns', resource: 'pods', readonly: true }),
    line({ group: 'dev', namespace: '*', resource: '*', apiGroup: 'apps' }),
    line({ user: 'ann', namespace: 'other', resource: 'secrets' }),
    line({ user: 'bob', namespace: '*', resource: 'secrets' }),
    line({ user: 'ann', namespace: '*', nonResourcePath: '/logs/*' }),
  ].join('\n');
  expect(await abacRules(parseAbacFile(text, 'f'))(ann, 'ns')).toEqual({
    resourceRules: [
      { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods'] },
      { verbs: ['*'], apiGroups: ['apps'], resources: ['*'] },
    ],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['/logs/*'] }],
    incomplete: false,
  });
});

it('reads the file, and names it if it cannot', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-abac-'));
  try {
    const path = join(directory, 'policies.jsonl');
    expect(() => readAbacFile(path)).toThrow(`cannot read the policy file ${path}: ENOENT`);
    writeFileSync(path, '{"user":"ann"}\n');
    const authorize = abacAuthorizer(readAbacFile(path));
    expect((await authorize({ user: ann, info: getPods })).verdict).toBe('allow');
  } finally {
    rmSync(directory, { recursive: true });
  }
});
