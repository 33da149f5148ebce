/**
 * The encryption configuration file: which providers encrypt which resources, with which keys.
 * Errors list all problems by field path and never contain a key.
 */
import { yamlReadOptions } from '@orch/apimachinery';
import { type Clock, dialect, parseDuration, ValueError } from '@orch/component';
import { parse, YAMLError } from 'yaml';
import { encryptionMergesMax } from '../limits.js';
import { type EncryptionObserver, unobservedEncryption } from './encryption-observer.js';
import { EnvelopeCipher } from './envelope.js';
import { FieldReader } from './field-reader.js';
import { KmsClient } from './kms-client.js';
import { KmsHealth } from './kms-health.js';
import { localKeys, localKinds } from './local-providers.js';
import { type ProviderKey, ResourceEncryption } from './resource-encryption.js';

export const kmsCachedKeysDefault = 1_000;
const kmsTimeoutDefault = '3s';
const providerKinds = [...localKinds, 'kms', 'identity'] as const;

/** The file cannot be used; the message names the file and the cause. */
export class EncryptionConfigurationError extends Error {
  override readonly name = 'EncryptionConfigurationError';
  readonly code = 'encryption-configuration-invalid';
}

export class EncryptionConfiguration {
  constructor(
    /** By `<group head>/<plural>`, as `core/secrets`. */
    readonly resources: ReadonlyMap<string, ResourceEncryption>,
    private readonly services: readonly KmsClient[],
    /** The health of each key management service, in the order of the file. */
    readonly serviceHealth: readonly KmsHealth[],
  ) {}

  /** Closes the connections to key management services. */
  close(): void {
    for (const service of this.services) service.close();
  }
}

/** `path` is for messages. Throws EncryptionConfigurationError. */
export function parseEncryptionConfiguration(
  text: string,
  path: string,
  clock: Clock,
  observer: EncryptionObserver = unobservedEncryption,
): EncryptionConfiguration {
  return new ConfigurationReader(path, clock, observer).read(text);
}

class ConfigurationReader {
  private readonly problems: string[] = [];
  private readonly fields = new FieldReader((problem) => this.problems.push(problem));
  private readonly services: KmsClient[] = [];
  private readonly kmsNames = new Set<string>();

  constructor(
    private readonly path: string,
    private readonly clock: Clock,
    private readonly observer: EncryptionObserver,
  ) {}

  read(text: string): EncryptionConfiguration {
    const keysByResource = new Map<string, ProviderKey[]>();
    const root = this.fields.mapOf(this.parsed(text), '', ['kind', 'apiVersion', 'resources']);
    this.checkType(root);
    const entries = this.fields.listOf(root.resources, 'resources');
    if (entries.length === 0) this.problems.push('resources: at least one resource is required');
    for (const [index, value] of entries.entries()) {
      const fieldPath = `resources[${index}]`;
      const entry = this.fields.mapOf(value, fieldPath, ['resources', 'providers']);
      const names = this.resourceNames(entry.resources, `${fieldPath}.resources`);
      const keys = this.providers(entry.providers, `${fieldPath}.providers`);
      for (const name of names) {
        keysByResource.set(name, [...(keysByResource.get(name) ?? []), ...keys]);
      }
    }
    if (this.problems.length > 0) {
      for (const service of this.services) service.close();
      throw this.invalid(this.problems.join('; '));
    }
    const { observer, clock } = this;
    const resources = [...keysByResource].map(
      ([name, keys]) => [name, new ResourceEncryption(keys, observer, clock)] as const,
    );
    const health = this.services.map((service) => new KmsHealth(service, clock));
    return new EncryptionConfiguration(new Map(resources), this.services, health);
  }

  private parsed(text: string): unknown {
    try {
      // The library would write its warnings to standard error.
      return parse(text, { ...yamlReadOptions(encryptionMergesMax), logLevel: 'error' });
    } catch (error) {
      // The message of the library shows lines of the file, which may be those of a key.
      if (error instanceof YAMLError) {
        const line = error.linePos?.[0].line;
        throw this.invalid(
          `not YAML: ${error.code}${line === undefined ? '' : ` in line ${line}`}`,
        );
      }
      throw this.invalid('not YAML');
    }
  }

  private checkType({ kind, apiVersion }: Record<string, unknown>): void {
    const expected = `apiserver.config.${dialect().groupDomain}/v1`;
    if (kind !== 'EncryptionConfiguration' || apiVersion !== expected) {
      this.problems.push(`kind, apiVersion: must be EncryptionConfiguration of ${expected}`);
    }
  }

  private resourceNames(value: unknown, fieldPath: string): string[] {
    const names = this.fields.listOf(value, fieldPath);
    if (names.length === 0) this.problems.push(`${fieldPath}: at least one resource is required`);
    const found = names.map((name, index) => {
      if (typeof name === 'string' && /^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(name)) {
        const [plural = '', ...group] = name.split('.');
        return `${dialect().groupHead(group.join('.'))}/${plural}`;
      }
      this.problems.push(`${fieldPath}[${index}]: must be <resource> or <resource>.<group>`);
      return '';
    });
    if (new Set(found).size < found.length) {
      this.problems.push(`${fieldPath}: duplicate resource, names must be unique`);
    }
    return found;
  }

  private providers(value: unknown, fieldPath: string): ProviderKey[] {
    const providers = this.fields.listOf(value, fieldPath);
    if (providers.length === 0) {
      this.problems.push(`${fieldPath}: at least one provider is required`);
    }
    const keys = providers.flatMap((provider, index) =>
      this.provider(provider, `${fieldPath}[${index}]`),
    );
    const names = keys.map((key) => (key === 'identity' ? key : `${key.kind}:${key.name}`));
    for (const name of new Set(names.filter((one, index) => names.indexOf(one) !== index))) {
      this.problems.push(`${fieldPath}: duplicate key ${name}, names must be unique`);
    }
    return keys;
  }

  private provider(value: unknown, fieldPath: string): ProviderKey[] {
    const provider = this.fields.mapOf(value, fieldPath, providerKinds);
    const kinds = providerKinds.filter((kind) => provider[kind] !== undefined);
    const [kind] = kinds;
    if (kind === undefined) {
      this.problems.push(
        `${fieldPath}: provider does not contain any of the expected providers: ${providerKinds.join(', ')}`,
      );
      return [];
    }
    if (kinds.length > 1) {
      this.problems.push(
        `${fieldPath}: more than one provider specified in a single element, should split into different list elements`,
      );
      return [];
    }
    const providerPath = `${fieldPath}.${kind}`;
    if (kind === 'identity') {
      this.fields.mapOf(provider.identity, providerPath, []);
      return ['identity'];
    }
    if (kind === 'kms') return this.kms(provider.kms, providerPath);
    return localKeys(this.fields, kind, provider[kind], providerPath);
  }

  private kms(value: unknown, fieldPath: string): ProviderKey[] {
    const { fields, problems } = this;
    const known = ['apiVersion', 'name', 'cachesize', 'endpoint', 'timeout'];
    const problemCount = problems.length;
    const {
      apiVersion = 'v1',
      name,
      endpoint,
      cachesize = kmsCachedKeysDefault,
      timeout = kmsTimeoutDefault,
    } = fields.mapOf(value, fieldPath, known);
    if (apiVersion !== 'v1') {
      problems.push(`${fieldPath}.apiVersion: unsupported KMS version, only v1 is supported`);
    }
    const providerName = fields.nameOf(name, `${fieldPath}.name`);
    if (this.kmsNames.has(providerName)) {
      problems.push(
        `${fieldPath}.name: duplicate KMS provider name ${providerName}, names must be unique`,
      );
    }
    this.kmsNames.add(providerName);
    if (!Number.isInteger(cachesize) || cachesize === 0) {
      problems.push(
        `${fieldPath}.cachesize: should be a positive value, or negative to disable the cache`,
      );
    }
    if (typeof endpoint !== 'string' || !/^unix:\/\/\/[^@]/.test(endpoint)) {
      problems.push(`${fieldPath}.endpoint: must be unix:///<path of a socket>`);
    }
    const timeoutMs = this.durationOf(timeout, `${fieldPath}.timeout`);
    if (problems.length > problemCount) return [];
    const { clock } = this;
    const service = new KmsClient({
      ...{ providerName, endpoint: endpoint as string, timeoutMs, clock },
    });
    this.services.push(service);
    const cipher = new EnvelopeCipher(service, cachesize as number, this.observer);
    return [{ kind: 'kms', name: providerName, cipher }];
  }

  private durationOf(value: unknown, fieldPath: string): number {
    try {
      const durationMs = parseDuration(String(value));
      if (durationMs > 0) return durationMs;
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
    }
    this.problems.push(`${fieldPath}: should be a positive value, such as 3s`);
    return 0;
  }

  private invalid(cause: string): EncryptionConfigurationError {
    return new EncryptionConfigurationError(`encryption configuration ${this.path}: ${cause}`);
  }
}
