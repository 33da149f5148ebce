/**
 * Encryption at rest in a cluster of three: the disks of all replicas, among them one that was
 * down and catches up from a snapshot, and a backup contain no plaintext of a Secret.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ReplicaServers } from './support/replica-servers.js';
import { eventually } from './support/wait.js';

const directory = mkdtempSync(join(tmpdir(), 'orch-e2e-encryption-'));
const file = join(directory, 'encryption.json');
const key = { name: 'first', secret: randomBytes(32).toString('base64') };
const secretsPath = '/api/v1/namespaces/default/secrets';
const configMapsPath = '/api/v1/namespaces/default/configmaps';
const stored = 'orch:enc:aesgcm:v1:first:';

interface Secret {
  readonly data: { readonly password: string };
}

/** The files below the directory that contain one of the texts. */
function filesWith(parent: string, texts: readonly string[]): string[] {
  return readdirSync(parent, { recursive: true })
    .map((name) => join(parent, String(name)))
    .filter((path) => statSync(path).isFile())
    .filter((path) => {
      const bytes = readFileSync(path);
      return texts.some((text) => bytes.includes(text));
    });
}

describe('encryption of Secrets in three replicas', () => {
  let replicas: ReplicaServers;
  /** Passwords of Secrets that exist, were updated or were deleted. */
  const passwords = Array.from({ length: 3 }, () => randomBytes(20).toString('hex'));
  const [deleted, old, current] = passwords as [string, string, string];
  const plain = randomBytes(20).toString('hex');
  /** The texts that a plaintext Secret would contain. */
  const traces = passwords.flatMap((text) => [text, Buffer.from(text).toString('base64')]);

  beforeAll(async () => {
    const configuration = {
      kind: 'EncryptionConfiguration',
      apiVersion: 'apiserver.config.orch.io/v1',
      resources: [{ resources: ['secrets'], providers: [{ aesgcm: { keys: [key] } }] }],
    };
    writeFileSync(file, JSON.stringify(configuration), { mode: 0o600 });
    replicas = await ReplicaServers.start(3, [`--encryption-provider-config=${file}`]);
  });

  afterAll(async () => {
    await replicas?.destroy();
    rmSync(directory, { recursive: true, force: true });
  });

  /** Sends a request to the first running server. */
  async function must(method: string, path: string, body?: unknown): Promise<void> {
    const { status, body: text } = await replicas.call(
      ...([replicas.running()[0]!, method, path, body] as const),
    );
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(text)}`);
  }

  const secret = (name: string, password: string) => ({
    metadata: { name },
    stringData: { password },
  });

  it('leaves no plaintext on any disk and in a backup, and every replica reads it', async () => {
    const [first, , absent] = replicas.servers as [never, never, never];
    await must('POST', configMapsPath, { metadata: { name: 'plain' }, data: { plain } });
    await must('POST', secretsPath, secret('gone', deleted));
    await must('DELETE', `${secretsPath}/gone`);
    await replicas.end(absent, 'SIGKILL');
    await must('POST', secretsPath, secret('kept', old));
    await must('PUT', `${secretsPath}/kept`, secret('kept', current));
    const snapshot = join(replicas.directory, 'snapshot');
    await replicas.orchctlMust('cluster', 'snapshot', 'save', snapshot);
    await replicas.startAll();

    for (const server of replicas.servers) {
      const read = await eventually(`the secret at ${server.name}`, async () => {
        const { status, body } = await replicas.call<Secret>(
          ...([server, 'GET', `${secretsPath}/kept`] as const),
        );
        return status === 200 && body;
      });
      expect(Buffer.from(read.data.password, 'base64').toString()).toBe(current);
    }
    await replicas.end(first, 'SIGTERM');
    expect(readFileSync(snapshot).includes(plain)).toBe(true);
    for (const { name, dataDirectory } of replicas.servers) {
      // The search finds an object that is not encrypted, and the start of encrypted ones.
      expect(filesWith(dataDirectory, [plain]), name).not.toEqual([]);
      expect(filesWith(dataDirectory, [stored]), name).not.toEqual([]);
      expect(filesWith(dataDirectory, traces), name).toEqual([]);
    }
    expect(traces.filter((text) => readFileSync(snapshot).includes(text))).toEqual([]);
    for (const { logFile } of replicas.servers) {
      expect(traces.filter((text) => readFileSync(logFile).includes(text))).toEqual([]);
    }
  });
});
