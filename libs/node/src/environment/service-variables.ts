/** The environment variables of services: `NAME_SERVICE_HOST`, `NAME_SERVICE_PORT` etc. */
import { dialect } from '@orch/component';
import type { Service } from '@orch/types/core/v1';

/** The namespace of the API's own service, which every pod gets. */
const apiServiceNamespace = 'default';

/**
 * Returns the services that a pod of `namespace` gets: the API's own and, with links, those of its
 * namespace.
 */
export function visibleServices(
  services: readonly Service[],
  namespace: string,
  enableServiceLinks: boolean,
): Service[] {
  const byName = new Map<string, Service>();
  for (const service of services) {
    const { name = '', namespace: serviceNamespace } = service.metadata ?? {};
    const { clusterIP } = service.spec ?? {};
    if (!clusterIP || clusterIP === 'None') continue;
    const isApi = serviceNamespace === apiServiceNamespace && name === dialect().word;
    const isLinked = enableServiceLinks && serviceNamespace === namespace;
    // A service in the pod's namespace overrides the API's service of the same name.
    if (isLinked || (isApi && !byName.has(name))) byName.set(name, service);
  }
  return [...byName.values()].sort((left, right) =>
    (left.metadata?.name ?? '') < (right.metadata?.name ?? '') ? -1 : 1,
  );
}

/** Returns the variables of `services`. */
export function serviceVariables(services: readonly Service[]): Map<string, string> {
  const variables = new Map<string, string>();
  for (const service of services) {
    const prefix = variableName(service.metadata?.name ?? '');
    const host = service.spec?.clusterIP ?? '';
    const [first, ...others] = service.spec?.ports ?? [];
    if (!first) continue;
    variables.set(`${prefix}_SERVICE_HOST`, host);
    variables.set(`${prefix}_SERVICE_PORT`, String(first.port));
    for (const { name, port } of [first, ...others]) {
      if (name) variables.set(`${prefix}_SERVICE_PORT_${variableName(name)}`, String(port));
    }
    variables.set(`${prefix}_PORT`, url(first.protocol, host, first.port));
    for (const { port, protocol = 'TCP' } of [first, ...others]) {
      const portPrefix = `${prefix}_PORT_${port}_${protocol}`;
      variables.set(portPrefix, url(protocol, host, port));
      variables.set(`${portPrefix}_PROTO`, protocol.toLowerCase());
      variables.set(`${portPrefix}_PORT`, String(port));
      variables.set(`${portPrefix}_ADDR`, host);
    }
  }
  return variables;
}

function variableName(name: string): string {
  return name.toUpperCase().replaceAll('-', '_');
}

function url(protocol = 'TCP', host: string, port: number): string {
  return `${protocol.toLowerCase()}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
