/**
 * Resolves the address of a service's endpoint: nothing routes service addresses for the API
 * server.
 */
import type { ApiObject } from '@orch/api';
import { dialect } from '@orch/component';
import { objectOf, type Registry } from '@orch/registry';
import type { ServiceResolver } from '@orch/security';
import type { Endpoints, Node, Service } from '@orch/types/core/v1';

/** A service has no address; the message says why and may be shown to clients. */
export class ServiceAddressError extends Error {
  override readonly name = 'ServiceAddressError';
}

export function serviceResolver(registry: Registry): ServiceResolver {
  return async ({ namespace, name, port }, timeoutMs) => {
    const read = <T extends ApiObject>(plural: string, of: string, named: string) =>
      readObject<T>(registry, plural, of, named, timeoutMs);
    const service = await read<Service>('services', namespace, name);
    if (!service) throw new ServiceAddressError(`service "${name}" not found`);
    const { type, externalName, ports = [] } = service.spec ?? {};
    if (type === 'ExternalName') return { host: externalName ?? '', port };
    const wanted = ports.find((candidate) => candidate.port === port);
    if (!wanted)
      throw new ServiceAddressError(`no service port ${port} found for service "${name}"`);
    const endpoints = await read<Endpoints>('endpoints', namespace, name);
    const candidates = (endpoints?.subsets ?? []).flatMap((subset) =>
      (subset.ports ?? [])
        .filter((candidate) => (candidate.name ?? '') === (wanted.name ?? ''))
        .flatMap((candidate) =>
          (subset.addresses ?? []).map((address) => ({ address, port: candidate.port })),
        ),
    );
    const chosen = candidates[Math.floor(registry.random() * candidates.length)];
    if (!chosen) throw new ServiceAddressError(`no endpoints available for service "${name}"`);
    const { ip = '', nodeName } = chosen.address;
    const node = nodeName ? await read<Node>('nodes', '', nodeName) : undefined;
    // Pods of a loopback node listen on the counterpart in 127/8.
    const isLoopback =
      node?.metadata?.annotations?.[dialect().key('pod-addresses', 'node')] === 'loopback';
    return { host: isLoopback ? ip.replace(/^\d+/, '127') : ip, port: chosen.port };
  };
}

export async function readObject<T extends ApiObject>(
  { rawStore, table }: Registry,
  plural: string,
  namespace: string,
  name: string,
  timeoutMs: number,
): Promise<T | undefined> {
  const resource = table.stored('core', plural);
  if (!resource) return undefined;
  const key = resource.key(namespace, name);
  const { entry } = await rawStore.get(key, { consistency: { kind: 'any' }, timeoutMs });
  return entry && objectOf<T>(entry);
}
