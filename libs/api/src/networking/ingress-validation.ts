/**
 * Validates ingresses. Errors name fields as in the version of the request; older versions have
 * fewer rules.
 */
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
import type { StrategyContext } from '../definition.js';
import { checkOptional, invalidEach } from '../shared/rules.js';
import { validateTypedReference } from './typed-reference.js';

interface Leniency {
  /** The request is in a beta version. */
  readonly beta: boolean;
  readonly anySecretName: boolean;
  /** Skips the rules of hosts with a wildcard. */
  readonly anyWildcardRule: boolean;
}

const strict: Leniency = { beta: false, anySecretName: false, anyWildcardRule: false };

/** `old`: violations that are already stored stay allowed. */
export function validateIngress(
  { spec }: Ingress,
  old: Ingress | undefined,
  { requestVersion }: StrategyContext,
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

function validateSpec(spec: IngressSpec, fieldPath: FieldPath, leniency: Leniency): FieldError[] {
  const errors: FieldError[] = [];
  const backendField = leniency.beta ? 'backend' : 'defaultBackend';
  if (!spec.rules?.length && !spec.defaultBackend) {
    errors.push(
      fieldError.invalid(
        fieldPath,
        new Literal(`[]networking.IngressRule${spec.rules ? '{}' : '(nil)'}`),
        `either \`${backendField}\` or \`rules\` must be specified`,
      ),
    );
  }
  if (spec.defaultBackend) {
    errors.push(...validateBackend(spec.defaultBackend, fieldPath.child(backendField), leniency));
  }
  for (const [index, rule] of (spec.rules ?? []).entries()) {
    errors.push(...validateRule(rule, fieldPath.child('rules').index(index), leniency));
  }
  for (const [index, tls] of (spec.tls ?? []).entries()) {
    errors.push(...validateTls(tls, fieldPath.child('tls').index(index), leniency));
  }
  return [
    ...errors,
    ...(spec.ingressClassName === undefined
      ? []
      : invalidEach(
          fieldPath.child('ingressClassName'),
          spec.ingressClassName,
          checkDns1123Subdomain(spec.ingressClassName),
        )),
  ];
}

function validateTls({ hosts, secretName }: IngressTLS, fieldPath: FieldPath, leniency: Leniency) {
  const errors = (hosts ?? []).flatMap((host, index) =>
    validateHost(host, fieldPath.child('hosts').index(index)),
  );
  if (!leniency.anySecretName) {
    errors.push(...checkOptional(secretName, fieldPath.child('secretName'), checkSecretName));
  }
  return errors;
}

function validateHost(host: string, fieldPath: FieldPath): FieldError[] {
  const check = isWildcard(host) ? checkWildcardSubdomain : checkDns1123Subdomain;
  return invalidEach(fieldPath, host, check(host));
}

function validateRule(rule: IngressRule, fieldPath: FieldPath, leniency: Leniency): FieldError[] {
  const { host } = rule;
  const errors: FieldError[] = [];
  if (host) {
    const hostAt = fieldPath.child('host');
    if (isIp(host)) {
      errors.push(fieldError.invalid(hostAt, host, 'must be a DNS name, not an IP address'));
    }
    errors.push(...validateHost(host, hostAt));
  }
  if (isWildcard(host) && leniency.anyWildcardRule) return errors;
  return [...errors, ...validateHttp(rule, fieldPath, leniency)];
}

function validateHttp(
  { http }: IngressRule,
  fieldPath: FieldPath,
  leniency: Leniency,
): FieldError[] {
  if (!http) return [];
  const pathsAt = fieldPath.child('http', 'paths');
  const paths = http.paths ?? [];
  if (paths.length === 0) return [fieldError.required(pathsAt)];
  return paths.flatMap((path, index) => validatePath(path, pathsAt.index(index), leniency));
}

const notAbsolute = 'must be an absolute path';
const refusedSequences = ['//', '/./', '/../', '%2f', '%2F'];
const refusedEnds = ['/..', '/.'];

function validatePath(
  httpPath: HTTPIngressPath,
  fieldPath: FieldPath,
  leniency: Leniency,
): FieldError[] {
  const typeAt = fieldPath.child('pathType');
  if (httpPath.pathType === undefined) {
    return [fieldError.required(typeAt, 'pathType must be specified')];
  }
  return [
    ...validatePathText(httpPath.path ?? '', httpPath.pathType, fieldPath.child('path'), typeAt),
    ...validateBackend(httpPath.backend ?? {}, fieldPath.child('backend'), leniency),
  ];
}

function validatePathText(
  text: string,
  type: string,
  fieldPath: FieldPath,
  typeAt: FieldPath,
): FieldError[] {
  switch (type) {
    case 'Exact':
    case 'Prefix':
      return invalidEach(fieldPath, text, [
        ...(text.startsWith('/') ? [] : [notAbsolute]),
        ...refusedSequences
          .filter((sequence) => text.includes(sequence))
          .map((sequence) => `must not contain '${sequence}'`),
        ...refusedEnds.filter((end) => text.endsWith(end)).map((end) => `cannot end with '${end}'`),
      ]);
    case 'ImplementationSpecific':
      return text === '' || text.startsWith('/')
        ? []
        : [fieldError.invalid(fieldPath, text, notAbsolute)];
    default:
      return [fieldError.notSupported(typeAt, type, ['Exact', 'ImplementationSpecific', 'Prefix'])];
  }
}

function validateBackend(
  { resource, service }: IngressBackend,
  fieldPath: FieldPath,
  { beta }: Leniency,
): FieldError[] {
  if (resource && service) {
    return [fieldError.invalid(fieldPath, '', 'cannot set both resource and service backends')];
  }
  if (resource) return validateTypedReference(resource, fieldPath.child('resource'));
  if (!service)
    return [fieldError.invalid(fieldPath, '', 'resource or service backend is required')];
  const nameAt = beta ? fieldPath.child('serviceName') : fieldPath.child('service', 'name');
  const errors = service.name
    ? invalidEach(nameAt, service.name, checkDns1035Label(service.name))
    : [fieldError.required(nameAt)];
  const { name, number } = service.port ?? {};
  const portAt = (field: string) =>
    beta ? fieldPath.child('servicePort') : fieldPath.child('service', 'port', field);
  if (name && number) {
    errors.push(fieldError.invalid(fieldPath, '', 'cannot set both port name & port number'));
  } else if (name) errors.push(...invalidEach(portAt('name'), name, checkPortName(name)));
  else if (number) errors.push(...invalidEach(portAt('number'), number, checkPortNumber(number)));
  else errors.push(fieldError.required(fieldPath, 'port name or number is required'));
  return errors;
}
