/** Where a service of the cluster is reached from here: by one of its endpoints, as nobody routes for the server. */
import { dialect } from '@orch/component';
import type { Entry } from '@orch/store';
import type { Endpoints, Node, Service } from '@orch/types/core/v1';
import { objectOf } from '../registry/entry-view.js';
import type { RegistryParts } from '../registry/registry-parts.js';
import { type ServiceResolver, WebhookError } from './webhook-client.js';

export function serviceResolver(parts: RegistryParts): ServiceResolver {
  return async ({ namespace, name, port }, timeoutMs) => {
    const read = <T>(plural: string, of: string, named: string) =>
      readObject<T>(parts, plural, of, named, timeoutMs);
    const service = await read<Service>('services', namespace, name);
    if (!service) throw new WebhookError(`service "${name}" not found`);
    const { type, externalName, ports = [] } = service.spec ?? {};
    if (type === 'ExternalName') return { host: externalName ?? '', port };
    const wanted = ports.find((one) => one.port === port);
    if (!wanted) throw new WebhookError(`no service port ${port} found for service "${name}"`);
    const endpoints = await read<Endpoints>('endpoints', namespace, name);
    const places = (endpoints?.subsets ?? []).flatMap((subset) =>
      (subset.ports ?? [])
        .filter((one) => (one.name ?? '') === (wanted.name ?? ''))
        .flatMap((one) => (subset.addresses ?? []).map((address) => ({ address, port: one.port }))),
    );
    const chosen = places[Math.floor(parts.random() * places.length)];
    if (!chosen) throw new WebhookError(`no endpoints available for service "${name}"`);
    const { ip = '', nodeName } = chosen.address;
    const node = nodeName ? await read<Node>('nodes', '', nodeName) : undefined;
    // Pods of a loopback node listen on the counterpart in 127/8.
    const isLoopback =
      node?.metadata?.annotations?.[dialect().key('pod-addresses', 'node')] === 'loopback';
    return { host: isLoopback ? ip.replace(/^\d+/, '127') : ip, port: chosen.port };
  };
}

async function readObject<T>(
  { store, table }: RegistryParts,
  plural: string,
  namespace: string,
  name: string,
  timeoutMs: number,
): Promise<T | undefined> {
  const resource = table.stored('core', plural);
  if (!resource) return undefined;
  const { entry }: { entry: Entry | undefined } = await store.get(resource.key(namespace, name), {
    consistency: { kind: 'any' },
    timeoutMs,
  });
  return entry && (objectOf(entry) as T);
}
