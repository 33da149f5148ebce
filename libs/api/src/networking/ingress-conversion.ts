/**
 * Converts Ingress between the shape of its beta versions and the stored one; lossless in both
 * directions.
 */
import type {
  HTTPIngressPath,
  Ingress,
  IngressBackend,
  IngressRule,
} from '@orch/types/networking/v1';
import type {
  IngressBackend as BetaBackend,
  Ingress as BetaIngress,
  HTTPIngressPath as BetaPath,
  IngressRule as BetaRule,
} from '@orch/types/networking/v1beta1';
import type { ApiObject } from '../definition.js';

export function ingressToStored({ spec, ...same }: BetaIngress): Ingress {
  if (!spec) return same;
  const { backend, rules, ...rest } = spec;
  return {
    ...same,
    spec: {
      ...rest,
      ...(backend && { defaultBackend: backendToStored(backend) }),
      ...(rules && {
        rules: rules.map((rule) => withBackends<BetaPath, HTTPIngressPath>(rule, pathToStored)),
      }),
    },
  };
}

export function ingressFromStored({ spec, ...same }: Ingress): ApiObject {
  if (!spec) return same;
  const { defaultBackend, rules, ...rest } = spec;
  const converted: BetaIngress = {
    ...same,
    spec: {
      ...rest,
      ...(defaultBackend && { backend: backendFromStored(defaultBackend) }),
      ...(rules && {
        rules: rules.map((rule) => withBackends<HTTPIngressPath, BetaPath>(rule, pathFromStored)),
      }),
    },
  };
  return converted;
}

/** The rule with each of its paths converted. */
function withBackends<From, To>(
  rule: { readonly host?: string; readonly http?: { readonly paths?: readonly From[] } },
  convert: (path: From) => To,
): Omit<IngressRule & BetaRule, 'http'> & { http?: { paths: To[] } } {
  const { http, ...same } = rule;
  return { ...same, ...(http && { http: { paths: (http.paths ?? []).map(convert) } }) };
}

const pathToStored = (path: BetaPath): HTTPIngressPath => ({
  ...path,
  backend: backendToStored(path.backend ?? {}),
});

const pathFromStored = (path: HTTPIngressPath): BetaPath => ({
  ...path,
  backend: backendFromStored(path.backend ?? {}),
});

/** A backend with neither a service name nor a port has no service. */
function backendToStored({ serviceName, servicePort, ...same }: BetaBackend): IngressBackend {
  const isNumber = typeof servicePort !== 'string';
  if (!serviceName && isNumber && !servicePort) return same;
  const port = isNumber ? { number: servicePort ?? 0 } : { name: servicePort };
  return { ...same, service: { name: serviceName ?? '', port } };
}

function backendFromStored({ service, ...same }: IngressBackend): BetaBackend {
  // The port is always present; it is 0 for a backend without a service.
  if (!service) return { ...same, servicePort: 0 };
  const { name, number } = service.port ?? {};
  return { ...same, serviceName: service.name, servicePort: name || (number ?? 0) };
}
