/** Files that users pass to the command line. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectionOf, KubeconfigError, singleKubeconfig, writeKubeconfig } from '@orch/component';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { CliError } from '../../../libs/cli/src/command-line/errors.js';
import { parseManifests } from '../../../libs/cli/src/resources/manifests.js';
import { yamlBody } from '../inputs/bodies.js';
import { damagedText } from '../inputs/bytes.js';
import { changedJson, jsonText } from '../inputs/json.js';
import { anyServed } from '../inputs/objects.js';
import { decodedOrRefused, type Target, target } from '../target.js';

const right = singleKubeconfig({
  clusterName: 'c',
  userName: 'u',
  servers: ['https://a:1', 'https://b:2'],
  certificateAuthorityPem: 'pem',
  token: 't',
});
const withEverything = {
  ...right,
  users: [
    ...right.users,
    {
      name: 'v',
      user: { exec: { apiVersion: 'v1', command: 'x', args: ['a'] }, 'as-groups': ['g'] },
    },
    {
      name: 'w',
      user: {
        ...{ username: 'ann', password: 'secret', as: 'bob' },
        'client-certificate-data': Buffer.from('pem').toString('base64'),
        'client-key-data': Buffer.from('key').toString('base64'),
      },
    },
  ],
  preferences: { colors: true },
};

let directory = '';

async function makeDirectory(): Promise<() => Promise<void>> {
  directory = mkdtempSync(join(tmpdir(), 'orch-fuzz-'));
  return async () => rmSync(directory, { recursive: true, force: true });
}

const kubeconfigs = target(
  'kubeconfigs',
  fc.tuple(
    damagedText(changedJson(fc.constant(withEverything)).map((value) => shortText(value))),
    fc.constantFrom(undefined, 'u@c', 'x', '__proto__'),
  ),
  ([text, context]) => {
    const path = join(directory, 'config');
    writeFileSync(path, text);
    const connection = decodedOrRefused(() => connectionOf(path, context), KubeconfigError);
    if (connection) {
      assert.equal(typeof connection.server, 'string');
      for (const member of ['token', 'namespace', 'username', 'tlsServerName'] as const) {
        assert.ok(['string', 'undefined'].includes(typeof connection[member]), member);
      }
    }
    writeKubeconfig(path, right);
    assert.equal(connectionOf(path).server, 'https://a:1');
  },
  { open: makeDirectory, share: 0.05 },
);

/** The YAML form that users write. */
function shortText(value: unknown): string {
  const text = jsonText(value);
  if (text.length > 4_000) return text.slice(0, 4_000);
  const parsed = decodedOrRefused(() => JSON.parse(text) as unknown, SyntaxError);
  return parsed === undefined
    ? text
    : (decodedOrRefused(() => stringify(parsed), RangeError) ?? text);
}

const manifests = target(
  'manifests',
  anyServed.chain((served) => fc.array(yamlBody(served), { minLength: 1, maxLength: 2 })),
  (texts) => {
    const all = decodedOrRefused(() => parseManifests(texts.join('\n---\n'), 'a file'), CliError);
    for (const { object } of all ?? []) assert.equal(typeof object.kind, 'string');
  },
  { share: 0.05 },
);

export const fileTargets: readonly Target[] = [kubeconfigs, manifests];
