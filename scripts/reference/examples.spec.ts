import { resolve } from 'node:path';
import { definitions, type ResourceDefinition } from '@orch/api';
import { dialect } from '@orch/component';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunningServer } from '../../apps/apiserver/src/testing/running-server.js';
import { readExample } from './examples.js';

const folder = resolve(import.meta.dirname, '../../examples/api');
const made = definitions.filter(({ verbs }) => !verbs || verbs.includes('create'));

function collection({ namespaced, plural }: ResourceDefinition, apiVersion: string): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return namespaced ? `${root}/namespaces/default/${plural}` : `${root}/${plural}`;
}

let server: RunningServer;
beforeAll(async () => {
  server = await RunningServer.start();
  // Pods run as this account, which a controller creates on a real cluster.
  const account = { metadata: { name: 'default' } };
  await server.must('POST', '/api/v1/namespaces/default/serviceaccounts', account);
}, 60_000);
afterAll(() => server.stop());

describe('the example of', () => {
  it.each(made.map((definition) => [definition.kind, definition] as const))(
    '%s is accepted by a server and readable in every version',
    async (kind, definition) => {
      const example = readExample(folder, definition);
      const first = definition.versions[0]!;
      const apiVersion = dialect().apiVersion(first.group, first.version);
      expect(example?.body).toMatchObject({ kind, apiVersion });
      if (kind === 'Binding') {
        const { code } = await server.call('POST', '/api/v1/namespaces/default/pods', {
          body: pod,
        });
        expect([201, 409]).toContain(code);
      }
      const path = `${collection(definition, apiVersion)}?fieldValidation=Strict`;
      const answer = await server.call('POST', path, { body: example?.body });
      expect([answer.code, answer.text]).toEqual([201, expect.any(String)]);
      if (definition.virtual) return;
      const { name } = answer.body.metadata;
      for (const version of definition.versions) {
        const at = dialect().apiVersion(version.group, version.version);
        const read = await server.must('GET', `${collection(definition, at)}/${name}`);
        expect(read).toMatchObject({ kind, apiVersion: at });
      }
    },
  );
});

/** The object that the example of a binding refers to. */
const pod = readExample(folder, definitions.find(({ kind }) => kind === 'Pod')!)!.body;
