/** Rules of ingresses. Errors name fields as the version of the request does; older versions let more pass. */
import {
  checkDns1035Label,
  checkDns1123Subdomain,
  checkPortName,
  checkPortNumber,
  checkWildcardSubdomain,
  type FieldError,
  type FieldPath,
  fieldError,
  isIp,
  Literal,
  path,
} from '@orch/apimachinery';
import type {
  HTTPIngressPath,
  Ingress,
  IngressBackend,
  IngressRule,
  IngressSpec,
  IngressTLS,
} from '@orch/types/networking/v1';
import type { RequestContext } from '../definition.js';
import { checkOptional, invalidEach } from '../shared/rules.js';
import { validateTypedReference } from './typed-reference.js';

interface Leniency {
  /** The request is in one of the beta versions. */
  readonly beta: boolean;
  readonly anySecretName: boolean;
  /** Rules of hosts with a wildcard are not looked into. */
  readonly anyWildcardRule: boolean;
}

const strict: Leniency = { beta: false, anySecretName: false, anyWildcardRule: false };

/** `old`: what was let pass once may stay. */
export function validateIngress(
  { spec }: Ingress,
  old: Ingress | undefined,
  { requestVersion }: RequestContext,
): FieldError[] {
  return validateSpec(
    spec ?? {},
    path('spec'),
    leniencyOf(old, requestVersion?.version === 'v1beta1'),
  );
}

function leniencyOf(old: Ingress | undefined, beta: boolean): Leniency {
  const tls = old?.spec?.tls ?? [];
  const rules = old?.spec?.rules ?? [];
  return {
    beta,
    anySecretName: beta || tls.some(({ secretName }) => checkSecretName(secretName).length > 0),
    anyWildcardRule:
      beta ||
      rules.some((rule) => isWildcard(rule.host) && validateHttp(rule, path(), strict).length > 0),
  };
}

const isWildcard = (host: string | undefined) => host?.includes('*') ?? false;

const checkSecretName = (name = '') => (name === '' ? [] : checkDns1123Subdomain(name));

function validateSpec(spec: IngressSpec, at: FieldPath, leniency: Leniency): FieldError[] {
  const errors: FieldError[] = [];
  const backendField = leniency.beta ? 'backend' : 'defaultBackend';
  if (!spec.rules?.length && !spec.defaultBackend) {
    errors.push(
      fieldError.invalid(
        at,
        new Literal(`[]networking.IngressRule${spec.rules ? '{}' : '(nil)'}`),
        `either \`${backendField}\` or \`rules\` must be specified`,
      ),
    );
  }
  if (spec.defaultBackend) {
    errors.push(...validateBackend(spec.defaultBackend, at.child(backendField), leniency));
  }
  for (const [index, rule] of (spec.rules ?? []).entries()) {
    errors.push(...validateRule(rule, at.child('rules').index(index), leniency));
  }
  for (const [index, tls] of (spec.tls ?? []).entries()) {
    errors.push(...validateTls(tls, at.child('tls').index(index), leniency));
  }
  return [
    ...errors,
    ...(spec.ingressClassName === undefined
      ? []
      : invalidEach(
          at.child('ingressClassName'),
          spec.ingressClassName,
          checkDns1123Subdomain(spec.ingressClassName),
        )),
  ];
}

function validateTls({ hosts, secretName }: IngressTLS, at: FieldPath, leniency: Leniency) {
  const errors = (hosts ?? []).flatMap((host, index) =>
    validateHost(host, at.child('hosts').index(index)),
  );
  if (!leniency.anySecretName) {
    errors.push(...checkOptional(secretName, at.child('secretName'), checkSecretName));
  }
  return errors;
}

function validateHost(host: string, at: FieldPath): FieldError[] {
  const check = isWildcard(host) ? checkWildcardSubdomain : checkDns1123Subdomain;
  return invalidEach(at, host, check(host));
}

function validateRule(rule: IngressRule, at: FieldPath, leniency: Leniency): FieldError[] {
  const { host } = rule;
  const errors: FieldError[] = [];
  if (host) {
    const hostAt = at.child('host');
    if (isIp(host)) {
      errors.push(fieldError.invalid(hostAt, host, 'must be a DNS name, not an IP address'));
    }
    errors.push(...validateHost(host, hostAt));
  }
  if (isWildcard(host) && leniency.anyWildcardRule) return errors;
  return [...errors, ...validateHttp(rule, at, leniency)];
}

function validateHttp({ http }: IngressRule, at: FieldPath, leniency: Leniency): FieldError[] {
  if (!http) return [];
  const pathsAt = at.child('http', 'paths');
  const paths = http.paths ?? [];
  if (paths.length === 0) return [fieldError.required(pathsAt)];
  return paths.flatMap((one, index) => validatePath(one, pathsAt.index(index), leniency));
}

const notAbsolute = 'must be an absolute path';
const refusedSequences = ['//', '/./', '/../', '%2f', '%2F'];
const refusedEnds = ['/..', '/.'];

function validatePath(one: HTTPIngressPath, at: FieldPath, leniency: Leniency): FieldError[] {
  const typeAt = at.child('pathType');
  if (one.pathType === undefined) {
    return [fieldError.required(typeAt, 'pathType must be specified')];
  }
  return [
    ...validatePathText(one.path ?? '', one.pathType, at.child('path'), typeAt),
    ...validateBackend(one.backend ?? {}, at.child('backend'), leniency),
  ];
}

function validatePathText(
  text: string,
  type: string,
  at: FieldPath,
  typeAt: FieldPath,
): FieldError[] {
  switch (type) {
    case 'Exact':
    case 'Prefix':
      return invalidEach(at, text, [
        ...(text.startsWith('/') ? [] : [notAbsolute]),
        ...refusedSequences
          .filter((sequence) => text.includes(sequence))
          .map((sequence) => `must not contain '${sequence}'`),
        ...refusedEnds.filter((end) => text.endsWith(end)).map((end) => `cannot end with '${end}'`),
      ]);
    case 'ImplementationSpecific':
      return text === '' || text.startsWith('/') ? [] : [fieldError.invalid(at, text, notAbsolute)];
    default:
      return [fieldError.notSupported(typeAt, type, ['Exact', 'ImplementationSpecific', 'Prefix'])];
  }
}

function validateBackend(
  { resource, service }: IngressBackend,
  at: FieldPath,
  { beta }: Leniency,
): FieldError[] {
  if (resource && service) {
    return [fieldError.invalid(at, '', 'cannot set both resource and service backends')];
  }
  if (resource) return validateTypedReference(resource, at.child('resource'));
  if (!service) return [fieldError.invalid(at, '', 'resource or service backend is required')];
  const nameAt = beta ? at.child('serviceName') : at.child('service', 'name');
  const errors = service.name
    ? invalidEach(nameAt, service.name, checkDns1035Label(service.name))
    : [fieldError.required(nameAt)];
  const { name, number } = service.port ?? {};
  const portAt = (field: string) =>
    beta ? at.child('servicePort') : at.child('service', 'port', field);
  if (name && number) {
    errors.push(fieldError.invalid(at, '', 'cannot set both port name & port number'));
  } else if (name) errors.push(...invalidEach(portAt('name'), name, checkPortName(name)));
  else if (number) errors.push(...invalidEach(portAt('number'), number, checkPortNumber(number)));
  else errors.push(fieldError.required(at, 'port name or number is required'));
  return errors;
}
