/**
 * Formats of names and keys. Each validator returns error messages in the wording of the interface,
 * or an empty list if the text is valid. Source: `formats` in the recorded fixtures.
 */

const dns1123LabelPattern = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const dns1123SubdomainPattern = `${dns1123LabelPattern}(\\.${dns1123LabelPattern})*`;
const dns1035LabelPattern = '[a-z]([-a-z0-9]*[a-z0-9])?';
const qualifiedNamePattern = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const labelValuePattern = `(${qualifiedNamePattern})?`;
const envVarNamePattern = '[-._a-zA-Z][-._a-zA-Z0-9]*';
const configMapKeyPattern = '[-._a-zA-Z0-9]+';
const httpHeaderNamePattern = '[-A-Za-z0-9]+';
const percentPattern = '[0-9]+%';
const conditionReasonPattern = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';

const dns1123LabelLengthMax = 63;
const dns1123SubdomainLengthMax = 253;

function whole(pattern: string): RegExp {
  return new RegExp(`^(?:${pattern})$`);
}

/** The message for a text that does not match a pattern. */
function patternMessage(message: string, pattern: string, ...examples: readonly string[]): string {
  if (examples.length === 0) return `${message} (regex used for validation is '${pattern}')`;
  const exampleList = examples.map((example) => `'${example}', `).join(' or ');
  return `${message} (e.g. ${exampleList}regex used for validation is '${pattern}')`;
}

function maxLengthMessage(lengthMax: number): string {
  return `must be no more than ${lengthMax} characters`;
}

export function inclusiveRangeMessage(low: number, high: number): string {
  return `must be between ${low} and ${high}, inclusive`;
}

interface Format {
  readonly expression: RegExp;
  readonly lengthMax?: number;
  readonly message: string;
}

function check(text: string, format: Format): string[] {
  const messages: string[] = [];
  if (format.lengthMax !== undefined && Buffer.byteLength(text) > format.lengthMax) {
    messages.push(maxLengthMessage(format.lengthMax));
  }
  if (!format.expression.test(text)) messages.push(format.message);
  return messages;
}

const dns1123Label: Format = {
  expression: whole(dns1123LabelPattern),
  lengthMax: dns1123LabelLengthMax,
  message: patternMessage(
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
    dns1123LabelPattern,
    'my-name',
    '123-abc',
  ),
};

const dns1123Subdomain: Format = {
  expression: whole(dns1123SubdomainPattern),
  lengthMax: dns1123SubdomainLengthMax,
  message: patternMessage(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
    dns1123SubdomainPattern,
    'example.com',
  ),
};

const dns1035Label: Format = {
  expression: whole(dns1035LabelPattern),
  lengthMax: dns1123LabelLengthMax,
  message: patternMessage(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
    dns1035LabelPattern,
    'my-name',
    'abc-123',
  ),
};

const nameExamples = ['MyName', 'my.name', '123-abc'] as const;
const qualifiedNameMessage =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const qualifiedName = whole(qualifiedNamePattern);

const labelValue: Format = {
  expression: whole(labelValuePattern),
  lengthMax: 63,
  message: patternMessage(
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    labelValuePattern,
    'MyValue',
    'my_value',
    '12345',
  ),
};

const envVarName: Format = {
  expression: whole(envVarNamePattern),
  message: patternMessage(
    "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit",
    envVarNamePattern,
    'my.env-name',
    'MY_ENV.NAME',
    'MyEnvName1',
  ),
};

const configMapKey: Format = {
  expression: whole(configMapKeyPattern),
  lengthMax: dns1123SubdomainLengthMax,
  message: patternMessage(
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    configMapKeyPattern,
    'key.name',
    'KEY_NAME',
    'key-name',
  ),
};

const httpHeaderName: Format = {
  expression: whole(httpHeaderNamePattern),
  message: patternMessage(
    "a valid HTTP header must consist of alphanumeric characters or '-'",
    httpHeaderNamePattern,
    'X-Header-Name',
  ),
};

const percent: Format = {
  expression: whole(percentPattern),
  message: patternMessage(
    "a valid percent string must be a numeric string followed by an ending '%'",
    percentPattern,
    '1%',
    '93%',
  ),
};

const conditionReason: Format = {
  expression: whole(conditionReasonPattern),
  message: patternMessage(
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
    conditionReasonPattern,
    'my_name',
    'MY_NAME',
    'MyName',
    'ReasonA,ReasonB',
    'ReasonA:ReasonB',
  ),
};

export const checkDns1123Label = (text: string): string[] => check(text, dns1123Label);
export const checkDns1123Subdomain = (text: string): string[] => check(text, dns1123Subdomain);
export const checkDns1035Label = (text: string): string[] => check(text, dns1035Label);
export const checkLabelValue = (text: string): string[] => check(text, labelValue);
export const checkHttpHeaderName = (text: string): string[] => check(text, httpHeaderName);
export const checkPercent = (text: string): string[] => check(text, percent);
export const checkConditionReason = (text: string): string[] => check(text, conditionReason);

export function checkEnvVarName(text: string): string[] {
  return [...check(text, envVarName), ...dotPrefixMessages(text)];
}

export function checkConfigMapKey(text: string): string[] {
  return [...check(text, configMapKey), ...dotPrefixMessages(text)];
}

function dotPrefixMessages(text: string): string[] {
  if (text === '.' || text === '..') return [`must not be '${text}'`];
  return text.startsWith('..') ? ["must not start with '..'"] : [];
}

/** `[prefix/]name`: keys of labels and annotations, finalizers, resource names. */
export function checkQualifiedName(text: string): string[] {
  const parts = text.split('/');
  const messages: string[] = [];
  if (parts.length > 2) {
    return [
      `a qualified name ${patternMessage(qualifiedNameMessage, qualifiedNamePattern, ...nameExamples)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1) ?? '';
  if (parts.length === 2) {
    const prefix = parts[0] ?? '';
    if (prefix === '') messages.push('prefix part must be non-empty');
    else messages.push(...checkDns1123Subdomain(prefix).map((message) => `prefix part ${message}`));
  }
  if (name === '') messages.push('name part must be non-empty');
  else if (name.length > 63) messages.push(`name part ${maxLengthMessage(63)}`);
  if (!qualifiedName.test(name)) {
    messages.push(
      `name part ${patternMessage(qualifiedNameMessage, qualifiedNamePattern, ...nameExamples)}`,
    );
  }
  return messages;
}

/** Names of ports in probes, targets and container ports. */
export function checkPortName(text: string): string[] {
  const messages: string[] = [];
  if (text.length > 15) messages.push(maxLengthMessage(15));
  if (!/^[-a-z0-9]+$/.test(text)) {
    messages.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!/[a-z]/.test(text)) messages.push('must contain at least one letter or number (a-z, 0-9)');
  if (text.includes('--')) messages.push('must not contain consecutive hyphens');
  if (text.startsWith('-') || text.endsWith('-')) {
    messages.push('must not begin or end with a hyphen');
  }
  return messages;
}

export function checkPortNumber(port: number): string[] {
  return port >= 1 && port <= 65535 ? [] : [inclusiveRangeMessage(1, 65535)];
}

/** A path segment: names that are inserted into URLs unescaped. */
export function checkPathSegment(text: string): string[] {
  return text === '.' || text === '..' ? [`may not be '${text}'`] : checkPathSegmentPart(text);
}

/** The prefix of a path segment. */
export function checkPathSegmentPart(text: string): string[] {
  return ['/', '%']
    .filter((part) => text.includes(part))
    .map((part) => `may not contain '${part}'`);
}

const httpPathPattern = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const httpPath = whole(httpPathPattern);

/** The path of a URL; checks its characters only. */
export function checkHttpPath(text: string): string[] {
  return httpPath.test(text) ? [] : [patternMessage('Invalid path', httpPathPattern)];
}

const wildcardSubdomainPattern = `\\*\\.${dns1123SubdomainPattern}`;
const wildcardSubdomain: Format = {
  expression: whole(wildcardSubdomainPattern),
  lengthMax: dns1123SubdomainLengthMax,
  message: patternMessage(
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
    wildcardSubdomainPattern,
    '*.example.com',
  ),
};

/** A wildcard subdomain such as `*.example.com`. */
export const checkWildcardSubdomain = (text: string): string[] => check(text, wildcardSubdomain);
