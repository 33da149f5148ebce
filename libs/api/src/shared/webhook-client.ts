/** Validates the client configuration of a webhook: a URL or a service. */
import {
  checkDns1035Label,
  checkDns1123Subdomain,
  checkPortNumber,
  type FieldError,
  type FieldPath,
  fieldError,
  quote,
} from '@orch/apimachinery';
import { invalidEach } from './rules.js';

const form = '; desired format: https://host[/path]';
/** Scheme, authority, path, query and fragment of a URL reference (RFC 3986, appendix B). */
const reference = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/s;

interface WebhookClient {
  readonly url?: string;
  readonly service?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly path?: string;
    readonly port?: number;
  };
}

export function validateWebhookClient(client: WebhookClient, fieldPath: FieldPath): FieldError[] {
  const { url, service } = client;
  if ((url === undefined) === (service === undefined)) {
    return [fieldError.required(fieldPath, 'exactly one of url or service is required')];
  }
  if (url !== undefined) return validateUrl(url, fieldPath.child('url'));
  return validateService(service ?? {}, fieldPath.child('service'));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for them
const control = /[\x00-\x1f\x7f]/;
const schemeFirst = /^[a-z][a-z0-9+.-]*:/i;

/** Why the text is not a URL, in upstream wording; undefined if it may be one. */
function urlFault(url: string): string | undefined {
  if (control.test(url)) return 'net/url: invalid control character in URL';
  const badEscape = /%(?![0-9a-f]{2}).{0,2}/is.exec(url.replace(/\?[^#]*/, ''));
  if (badEscape) return `invalid URL escape ${quote(badEscape[0])}`;
  if (url.startsWith(':')) return 'missing protocol scheme';
  const [first = ''] = url.split(/[/?#]/, 1);
  return first.includes(':') && !schemeFirst.test(url)
    ? 'first path segment in URL cannot contain colon'
    : undefined;
}

function validateUrl(url: string, fieldPath: FieldPath): FieldError[] {
  const fault = urlFault(url);
  if (fault !== undefined) {
    const detail = `url must be a valid URL: parse ${quote(url)}: ${fault}${form}`;
    return [fieldError.required(fieldPath, detail)];
  }
  const [, scheme = '', authority = '', query = '', fragment = ''] = reference.exec(url) ?? [];
  const userEnd = authority.lastIndexOf('@');
  const host = authority.slice(userEnd + 1);
  if (scheme !== '' && host !== '' && !URL.canParse(url)) {
    return [
      fieldError.required(fieldPath, `url must be a valid URL: ${JSON.stringify(url)}${form}`),
    ];
  }
  const errors: FieldError[] = [];
  const refuse = (value: string, message: string) =>
    errors.push(fieldError.invalid(fieldPath, value, message));
  if (scheme.toLowerCase() !== 'https') {
    refuse(scheme.toLowerCase(), `'https' is the only allowed URL scheme${form}`);
  }
  if (host === '') refuse(host, `host must be provided${form}`);
  if (userEnd >= 0) {
    refuse(authority.slice(0, userEnd), 'user information is not permitted in the URL');
  }
  if (fragment !== '') refuse(fragment, 'fragments are not permitted in the URL');
  if (query !== '') refuse(query, 'query parameters are not permitted in the URL');
  return errors;
}

function validateService(
  service: NonNullable<WebhookClient['service']>,
  fieldPath: FieldPath,
): FieldError[] {
  const { name, namespace, path: urlPath, port = 0 } = service;
  const errors: FieldError[] = [];
  // Upstream confuses the two.
  if (!namespace) {
    errors.push(fieldError.required(fieldPath.child('name'), 'service name is required'));
  }
  if (!name) {
    errors.push(fieldError.required(fieldPath.child('namespace'), 'service namespace is required'));
  }
  const messages = checkPortNumber(port).map((message) => `port is not valid: ${message}`);
  errors.push(...invalidEach(fieldPath.child('port'), port, messages));
  if (urlPath) errors.push(...validatePath(urlPath, fieldPath.child('path')));
  return errors;
}

function validatePath(urlPath: string, fieldPath: FieldPath): FieldError[] {
  if (urlPath === '/') return [];
  if (urlPath === '//')
    return [fieldError.invalid(fieldPath, urlPath, 'segment[0] may not be empty')];
  const errors = urlPath.startsWith('/')
    ? []
    : [fieldError.invalid(fieldPath, urlPath, "must start with a '/'")];
  // Upstream skips the first byte.
  const segments = Buffer.from(urlPath).toString('latin1', 1).replace(/\/$/, '').split('/');
  for (const [index, segment] of segments.entries()) {
    const messages =
      segment === ''
        ? [`segment[${index}] may not be empty`]
        : checkDns1123Subdomain(segment).map((message) => `segment[${index}]: ${message}`);
    errors.push(...invalidEach(fieldPath, urlPath, messages));
  }
  return errors;
}

const knownReviewVersions: readonly string[] = ['v1', 'v1beta1'];

export function hasKnownReviewVersion(versions: readonly string[]): boolean {
  return versions.some((version) => knownReviewVersions.includes(version));
}

/** Versions of review objects that a webhook accepts: at least one of them must be supported. */
export function validateReviewVersions(
  versions: readonly string[],
  needsKnown: boolean,
  fieldPath: FieldPath,
): FieldError[] {
  const known = knownReviewVersions.join(', ');
  if (versions.length === 0)
    return [fieldError.required(fieldPath, `must specify one of ${known}`)];
  const errors = versions.flatMap((version, index) =>
    versions.indexOf(version) < index
      ? [fieldError.invalid(fieldPath.index(index), version, 'duplicate version')]
      : invalidEach(fieldPath.index(index), version, checkDns1035Label(version)),
  );
  if (needsKnown && !hasKnownReviewVersion(versions)) {
    errors.push(fieldError.invalid(fieldPath, versions, `must include at least one of ${known}`));
  }
  return errors;
}
