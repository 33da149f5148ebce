/**
 * Encryption at rest in suites that start API servers: `ORCH_TEST_ENCRYPTION=aesgcm` (or `aescbc`,
 * `secretbox`) encrypts every recorded resource that is stored, with a random key of this process.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const provider = process.env.ORCH_TEST_ENCRYPTION ?? '';
const providers = ['aescbc', 'aesgcm', 'secretbox'];
if (provider !== '' && !providers.includes(provider)) {
  throw new Error(`ORCH_TEST_ENCRYPTION: expected one of ${providers.join(', ')}, got ${provider}`);
}
const domains = { orch: 'orch.io', kubernetes: 'k8s.io' };
const key = { name: 'test', secret: randomBytes(32).toString('base64') };
let directory;

function storedResources() {
  const facts = join(import.meta.dirname, 'facts/resources.json');
  const { groups } = JSON.parse(readFileSync(facts, 'utf8'));
  const names = groups.flatMap((group) =>
    Object.values(group.resources).flatMap((resources) =>
      Object.entries(resources)
        .filter(([, { storage }]) => storage !== undefined)
        .map(([plural]) => (group.name === '' ? plural : `${plural}.${group.name}`)),
    ),
  );
  return [...new Set(names)];
}

/** The flags of an API server; none unless the variable is set. */
export function encryptionFlags(dialect) {
  if (provider === '') return [];
  if (!directory) {
    directory = mkdtempSync(join(tmpdir(), 'orch-test-encryption-'));
    process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  }
  const domain = domains[dialect];
  const file = join(directory, `${dialect}.json`);
  const resources = storedResources().map((name) => name.replace(domains.orch, domain));
  const configuration = {
    kind: 'EncryptionConfiguration',
    apiVersion: `apiserver.config.${domain}/v1`,
    resources: [{ resources, providers: [{ [provider]: { keys: [key] } }] }],
  };
  writeFileSync(file, JSON.stringify(configuration), { mode: 0o600 });
  return [`--encryption-provider-config=${file}`];
}
