/**
 * The schema of a kubeconfig file: its fields and their types. Unknown fields are not checked; the
 * reader of the file interprets the values.
 */
type Form = 'string' | 'boolean' | 'anything' | readonly [Form] | { readonly [name: string]: Form };

const extensions: Form = [{ name: 'string', extension: 'anything' }];

const cluster: Form = {
  server: 'string',
  'certificate-authority': 'string',
  'certificate-authority-data': 'string',
  'insecure-skip-tls-verify': 'boolean',
  'tls-server-name': 'string',
  'proxy-url': 'string',
  extensions,
};

const user: Form = {
  token: 'string',
  tokenFile: 'string',
  username: 'string',
  password: 'string',
  'client-certificate': 'string',
  'client-certificate-data': 'string',
  'client-key': 'string',
  'client-key-data': 'string',
  as: 'string',
  'as-groups': ['string'],
  exec: {
    apiVersion: 'string',
    command: 'string',
    args: ['string'],
    env: [{ name: 'string', value: 'string' }],
  },
};

const form: Form = {
  apiVersion: 'string',
  kind: 'string',
  clusters: [{ name: 'string', cluster }],
  users: [{ name: 'string', user }],
  contexts: [
    { name: 'string', context: { cluster: 'string', user: 'string', namespace: 'string' } },
  ],
  'current-context': 'string',
  preferences: {},
};

/**
 * Returns the first schema error of `config` as text; undefined if it is valid. Every field is
 * optional.
 */
export function formError(config: unknown): string | undefined {
  return errorIn(config, form, '');
}

function errorIn(value: unknown, expected: Form, path: string): string | undefined {
  if (expected === 'anything') return undefined;
  if (typeof expected === 'string') {
    return typeof value === expected ? undefined : `${path} is not a ${expected}`;
  }
  const isList = Array.isArray(value);
  if (isListForm(expected)) {
    if (!isList) return `${path} is not a list`;
    // `Array.from` also visits the holes that elements without a value leave.
    return firstError(
      Array.from(value, (element, index) => [element, expected[0], `${path}[${index}]`] as const),
    );
  }
  if (typeof value !== 'object' || value === null || isList) {
    return `${path === '' ? 'the document' : path} is not a map`;
  }
  const members = Object.entries(value).filter(
    ([name, member]) => Object.hasOwn(expected, name) && member !== undefined,
  );
  return firstError(
    members.map(([name, member]) => [
      member,
      expected[name]!,
      path === '' ? name : `${path}.${name}`,
    ]),
  );
}

function isListForm(expected: Exclude<Form, string>): expected is readonly [Form] {
  return Array.isArray(expected);
}

function firstError(
  members: readonly (readonly [value: unknown, expected: Form, path: string])[],
): string | undefined {
  for (const member of members) {
    const error = errorIn(...member);
    if (error !== undefined) return error;
  }
  return undefined;
}
