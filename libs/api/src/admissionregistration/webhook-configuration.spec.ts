import type { MutatingWebhookConfiguration } from '@orch/types/admissionregistration/v1';
import { describe, expect, it } from 'vitest';
import { cells, create, decode, update } from '../testing/write.js';
import { mutatingWebhookConfiguration as mutating } from './mutating-webhook-configuration.js';
import { validatingWebhookConfiguration as validating } from './validating-webhook-configuration.js';

const [stable, older] = mutating.versions;
const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] };
const hook = {
  name: 'a.example.com',
  clientConfig: { url: 'https://example.com/x' },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  rules: [rule],
};
const createConfiguration = (change: object = {}, version = stable) =>
  create<MutatingWebhookConfiguration>(mutating, { webhooks: [{ ...hook, ...change }] }, version);
const below = (field: string, ...messages: string[]) =>
  messages.map((message) => `webhooks[0].${field}: ${message}`);
const form = '; desired format: https://host[/path]';

describe.each([mutating, validating])('webhook configurations: $kind', (definition) => {
  it('get the defaults of their version', () => {
    const [first] = decode<MutatingWebhookConfiguration>(definition, { webhooks: [hook] })
      .webhooks!;
    expect(first).toMatchObject({
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      timeoutSeconds: 10,
      namespaceSelector: {},
      objectSelector: {},
      rules: [{ scope: '*' }],
    });
    const { name, clientConfig } = hook;
    const body = { webhooks: [{ name, clientConfig }] };
    const [second] = decode<MutatingWebhookConfiguration>(definition, body, older).webhooks!;
    expect(second).toMatchObject({
      failurePolicy: 'Ignore',
      matchPolicy: 'Exact',
      timeoutSeconds: 30,
      sideEffects: 'Unknown',
      admissionReviewVersions: ['v1beta1'],
    });
    const { errors, object } = create(definition, body, older);
    expect(errors).toEqual([]);
    expect(cells(definition, object)).toMatchObject({ Webhooks: 1 });
  });
});

describe('webhooks', () => {
  it.each<[object, string[]]>([
    [{}, []],
    [{ name: '' }, below('name', 'Required value')],
    [
      { name: 'a.com' },
      below(
        'name',
        'Invalid value: "a.com": should be a domain with at least three segments separated by dots',
      ),
    ],
    [
      { sideEffects: undefined },
      below('sideEffects', 'Required value: must specify one of None, NoneOnDryRun'),
    ],
    [
      { sideEffects: 'Some' },
      below('sideEffects', 'Unsupported value: "Some": supported values: "None", "NoneOnDryRun"'),
    ],
    [
      { admissionReviewVersions: [] },
      below('admissionReviewVersions', 'Required value: must specify one of v1, v1beta1'),
    ],
    [
      { admissionReviewVersions: ['v7', 'v7'] },
      [
        'webhooks[0].admissionReviewVersions[1]: Invalid value: "v7": duplicate version',
        'webhooks[0].admissionReviewVersions: Invalid value: []string{"v7", "v7"}: must include at least one of v1, v1beta1',
      ],
    ],
    [
      { timeoutSeconds: 31 },
      below(
        'timeoutSeconds',
        'Invalid value: 31: the timeout value must be between 1 and 30 seconds',
      ),
    ],
    [
      { failurePolicy: 'Maybe', matchPolicy: 'Maybe', reinvocationPolicy: 'Maybe' },
      [
        'webhooks[0].failurePolicy: Unsupported value: "Maybe": supported values: "Fail", "Ignore"',
        'webhooks[0].matchPolicy: Unsupported value: "Maybe": supported values: "Equivalent", "Exact"',
        'webhooks[0].reinvocationPolicy: Unsupported value: "Maybe": supported values: "IfNeeded", "Never"',
      ],
    ],
    [
      { clientConfig: {} },
      below('clientConfig', 'Required value: exactly one of url or service is required'),
    ],
    [
      { clientConfig: { url: 'http://me@example.com/x?y#z' } },
      below(
        'clientConfig.url',
        `Invalid value: "http": 'https' is the only allowed URL scheme${form}`,
        'Invalid value: "me": user information is not permitted in the URL',
        'Invalid value: "z": fragments are not permitted in the URL',
        'Invalid value: "y": query parameters are not permitted in the URL',
      ),
    ],
    ...[
      ['https://a/%zz?%', 'invalid URL escape "%zz"'],
      ['://a', 'missing protocol scheme'],
      ['1a:b', 'first path segment in URL cannot contain colon'],
      ['https://a/\n', 'net/url: invalid control character in URL'],
    ].map(([url, fault]): [object, string[]] => [
      { clientConfig: { url } },
      below(
        'clientConfig.url',
        `Required value: url must be a valid URL: parse ${JSON.stringify(url)}: ${fault}${form}`,
      ),
    ]),
    [
      { clientConfig: { url: 'https:///x' } },
      below('clientConfig.url', `Invalid value: "": host must be provided${form}`),
    ],
    [
      { clientConfig: { service: { name: '', namespace: '', port: 0, path: 'a//b' } } },
      [
        'webhooks[0].clientConfig.service.name: Required value: service name is required',
        'webhooks[0].clientConfig.service.namespace: Required value: service namespace is required',
        'webhooks[0].clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive',
        'webhooks[0].clientConfig.service.path: Invalid value: "a//b": must start with a \'/\'',
        'webhooks[0].clientConfig.service.path: Invalid value: "a//b": segment[0] may not be empty',
        'webhooks[0].clientConfig.service.path: Invalid value: "a//b": segment[1] may not be empty',
      ],
    ],
    [
      { clientConfig: { service: { name: 'a', namespace: 'b', path: '/a//B' } } },
      [
        'webhooks[0].clientConfig.service.path: Invalid value: "/a//B": segment[1] may not be empty',
        expect.stringContaining('segment[2]: a lowercase RFC 1123 subdomain') as string,
      ],
    ],
  ])('reject %j', (change, messages) => {
    expect(createConfiguration(change).errors).toEqual(messages);
  });

  it.each<[object, string[]]>([
    [{ operations: [] }, ['operations: Required value']],
    [
      { operations: ['*', 'CREATE'] },
      [
        'operations: Invalid value: []string{"*", "CREATE"}: if \'*\' is present, must not specify other operations',
      ],
    ],
    [
      { operations: ['GET'] },
      [
        'operations[0]: Unsupported value: "GET": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"',
      ],
    ],
    [
      { apiGroups: [], apiVersions: [''] },
      ['apiGroups: Required value', 'apiVersions[0]: Required value'],
    ],
    [{ resources: [''] }, ['resources[0]: Required value']],
    [
      { resources: ['pods/*', 'pods/log'] },
      [
        'resources[1]: Invalid value: "pods/log": if \'pods/*\' is present, must not specify pods/log',
      ],
    ],
    [
      { resources: ['*/scale', 'pods/scale'] },
      [
        'resources[1]: Invalid value: "pods/scale": if \'*/scale\' is present, must not specify pods/scale',
      ],
    ],
    [
      { resources: ['*', 'pods'] },
      [
        'resources: Invalid value: []string{"*", "pods"}: if \'*\' is present, must not specify other resources without subresources',
      ],
    ],
    [
      { scope: 'World' },
      ['scope: Unsupported value: "World": supported values: "*", "Cluster", "Namespaced"'],
    ],
  ])('reject a rule %j', (change, messages) => {
    const { errors } = createConfiguration({ rules: [{ ...rule, ...change }] });
    expect(errors).toEqual(messages.map((message) => `webhooks[0].rules[0].${message}`));
  });

  it('require unique names in the stable version', () => {
    const body = { webhooks: [hook, hook] };
    expect(create(mutating, body).errors).toEqual([
      'webhooks[1].name: Duplicate value: "a.example.com"',
    ]);
    expect(create(mutating, body, older).errors).toEqual([]);
  });

  it('keep stored violations, and count generations', () => {
    const { object } = createConfiguration({ sideEffects: 'Some' }, older);
    object.metadata!.generation = 1;
    const changed = update(mutating, object, (draft: MutatingWebhookConfiguration) => {
      draft.webhooks![0]!.timeoutSeconds = 3;
    });
    expect(changed.errors).toEqual([]);
    expect(changed.object.metadata?.generation).toBe(2);
    const same = update(mutating, object, (draft: MutatingWebhookConfiguration) => {
      draft.metadata!.labels = { a: 'b' };
    });
    expect(same.object.metadata?.generation).toBe(1);
  });
});
