/**
 * The form of a client configuration file: which members there are and of what type. Members that are not
 * known here are left to others; what the values mean is for the reader of the file.
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

/** What is wrong with it, in words; undefined when nothing is. Members may be absent. */
export function formFault(config: unknown): string | undefined {
  return faultIn(config, form, '');
}

function faultIn(value: unknown, expected: Form, at: string): string | undefined {
  if (expected === 'anything') return undefined;
  if (typeof expected === 'string') {
    return typeof value === expected ? undefined : `${at} is not a ${expected}`;
  }
  const isList = Array.isArray(value);
  if (isListForm(expected)) {
    if (!isList) return `${at} is not a list`;
    // Holes, where a value was left out, are elements as well.
    return firstFault(
      Array.from(value, (element, index) => [element, expected[0], `${at}[${index}]`] as const),
    );
  }
  if (typeof value !== 'object' || value === null || isList) {
    return `${at === '' ? 'it' : at} is not a map`;
  }
  const members = Object.entries(value).filter(
    ([name, member]) => Object.hasOwn(expected, name) && member !== undefined,
  );
  return firstFault(
    members.map(([name, member]) => [member, expected[name]!, at === '' ? name : `${at}.${name}`]),
  );
}

function isListForm(expected: Exclude<Form, string>): expected is readonly [Form] {
  return Array.isArray(expected);
}

function firstFault(
  members: readonly (readonly [value: unknown, expected: Form, at: string])[],
): string | undefined {
  for (const member of members) {
    const fault = faultIn(...member);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
