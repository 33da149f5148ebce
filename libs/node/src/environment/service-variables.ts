/** The variables by which containers find services: `NAME_SERVICE_HOST` and its relatives. */
import { dialect } from '@orch/component';
import type { Service } from '@orch/types/core/v1';

/** The API's own service lives here and is told to every pod. */
const apiServiceNamespace = 'default';

/** Which services a pod of `namespace` is told about: the API's own, and with links those beside it. */
export function visibleServices(
  services: readonly Service[],
  namespace: string,
  enableServiceLinks: boolean,
): Service[] {
  const byName = new Map<string, Service>();
  for (const service of services) {
    const { name = '', namespace: home } = service.metadata ?? {};
    const { clusterIP } = service.spec ?? {};
    if (!clusterIP || clusterIP === 'None') continue;
    const isApi = home === apiServiceNamespace && name === dialect().word;
    const isLinked = enableServiceLinks && home === namespace;
    // A service of the pod's own namespace hides the API's of the same name.
    if (isLinked || (isApi && !byName.has(name))) byName.set(name, service);
  }
  return [...byName.values()].sort((left, right) =>
    (left.metadata?.name ?? '') < (right.metadata?.name ?? '') ? -1 : 1,
  );
}

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
      const one = `${prefix}_PORT_${port}_${protocol}`;
      variables.set(one, url(protocol, host, port));
      variables.set(`${one}_PROTO`, protocol.toLowerCase());
      variables.set(`${one}_PORT`, String(port));
      variables.set(`${one}_ADDR`, host);
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
