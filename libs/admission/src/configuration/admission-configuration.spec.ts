import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dialect, ValueError } from '@orch/component';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { admissionPlugins } from '../plugins.js';
import { configurePlugins, readAdmissionConfiguration } from './admission-configuration.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'orch-admission-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const head = () =>
  `apiVersion: ${dialect().apiVersion('apiserver.config', 'v1')}\nkind: AdmissionConfiguration\n`;
const limitHead = () =>
  `{apiVersion: ${dialect().apiVersion('eventratelimit.admission', 'v1alpha1')}, kind: Configuration`;

function write(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

function configured(text: string) {
  const documents = readAdmissionConfiguration(write('admission.yaml', text));
  return configurePlugins(admissionPlugins, documents);
}

describe('the admission configuration', () => {
  it('configures plugins in the file and in files relative to it', () => {
    write('limits.yaml', `${limitHead()}, limits: [{type: Server, qps: 5, burst: 10}]}`);
    const tolerations = dialect().apiVersion('podtolerationrestriction.admission', 'v1alpha1');
    const plugins = configured(`${head()}plugins:
- {name: EventRateLimit, path: limits.yaml}
- name: PodTolerationRestriction
  configuration: {apiVersion: ${tolerations}, kind: Configuration, whitelist: [{key: a, operator: Exists}]}
`);
    const rate = plugins.find(({ name }) => name === 'EventRateLimit');
    expect(rate?.unavailable).toBeUndefined();
    const image = plugins.find(({ name }) => name === 'ImagePolicyWebhook');
    expect(image?.unavailable).toContain('--admission-control-config-file');
  });

  const limits = (text: string) => `plugins: [{name: EventRateLimit, configuration: ${text}}]`;
  it.each([
    ['another kind', () => 'kind: Policy', 'not a AdmissionConfiguration of'],
    ['an unknown field', () => `${head()}plugin: []`, 'unknown field plugin'],
    ['a duplicate key', () => `${head()}plugins: []\nplugins: []`, 'Map keys must be unique'],
    ['another type', () => `${head()}plugins: {}`, 'plugins is not a list'],
    ['a nameless plugin', () => `${head()}plugins: [{path: a}]`, 'name is required'],
    [
      'no configuration',
      () => `${head()}plugins: [{name: EventRateLimit}]`,
      'one of path and configuration is required',
    ],
    [
      'a plugin that is configured twice',
      () => `${head()}plugins: [{name: A, configuration: {}}, {name: A, configuration: {}}]`,
      'A is configured twice',
    ],
    [
      'a plugin without a configuration',
      () => `${head()}plugins: [{name: AlwaysDeny, configuration: {}}]`,
      'plugins with a configuration are',
    ],
    [
      'a missing file',
      () => `${head()}plugins: [{name: EventRateLimit, path: none.yaml}]`,
      'none.yaml',
    ],
    ['no limits', () => head() + limits(`${limitHead()}}`), 'limits: Invalid value: '],
    [
      'wrong limits',
      () => head() + limits(`${limitHead()}, limits: [{type: Pod, qps: 0, burst: 1}]}`),
      'limits[0].type: Unsupported value: "Pod": supported values: "Namespace", "Server", "SourceAndObject", "User", limits[0].qps: Invalid value: 0: must be positive',
    ],
    [
      'an unknown field of a toleration',
      () =>
        `${head()}plugins: [{name: PodTolerationRestriction, configuration: {apiVersion: ${dialect().apiVersion('podtolerationrestriction.admission', 'v1alpha1')}, kind: Configuration, default: [{kee: a}]}}]`,
      'unknown fields default[0].kee',
    ],
    [
      'an image policy without a webhook',
      () => `${head()}plugins: [{name: ImagePolicyWebhook, configuration: {imagePolicy: {}}}]`,
      'imagePolicy.kubeConfigFile is required',
    ],
  ])('is rejected with %s', (_title, text, message) => {
    expect(() => configured(text())).toThrow(ValueError);
    expect(() => configured(text())).toThrow(message);
  });

  it.each([
    ['allowTTL', 1_801],
    ['denyTTL', -2],
    ['retryBackoff', 300_001],
  ])('is rejected with an image policy whose %s is %d', (field, value) => {
    write(
      'kubeconfig',
      `clusters: [{name: c, cluster: {server: 'https://a:1'}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`,
    );
    const text = `${head()}plugins: [{name: ImagePolicyWebhook, configuration: {imagePolicy: {kubeConfigFile: kubeconfig, ${field}: ${value}}}}]`;
    expect(() => configured(text)).toThrow(`imagePolicy.${field}: ${value} is not between`);
    expect(() => configured(text.replace(String(value), '-1'))).not.toThrow();
  });
});
