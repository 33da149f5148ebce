/**
 * The environment of a container: services, then `envFrom`, then `env`; later entries override
 * earlier ones. `$(NAME)` in a value refers to earlier entries and to services.
 */

import type { Container, EnvVarSource, Pod, Service } from '@orch/types/core/v1';
import { isEnvironmentName } from './environment-name.js';
import { expand } from './expand.js';
import {
  containersOf,
  type NodeAllocatable,
  type PodAddresses,
  podField,
  resourceField,
} from './pod-fields.js';
import { BrokenReference, type ReferencedObjects } from './referenced-objects.js';
import { serviceVariables, visibleServices } from './service-variables.js';

export interface EnvironmentContext {
  readonly pod: Pod;
  readonly addresses: PodAddresses;
  readonly allocatable: NodeAllocatable;
  readonly services: readonly Service[];
  readonly objects: ReferencedObjects;
  /** Called with the keys of `envFrom` that are skipped because they are not variable names. */
  readonly onSkippedKeys?: (source: string, keys: readonly string[]) => void;
}

/**
 * Returns the variables of a container. Throws `BrokenReference` if a required object is missing.
 */
export async function containerEnvironment(
  container: Container,
  context: EnvironmentContext,
): Promise<Map<string, string>> {
  const namespace = context.pod.metadata?.namespace ?? '';
  const linked = context.pod.spec?.enableServiceLinks ?? true;
  const services = serviceVariables(visibleServices(context.services, namespace, linked));
  const set = new Map<string, string>();
  for (const source of container.envFrom ?? []) {
    for (const [key, value] of await sourceEntries(source, context)) {
      set.set(`${source.prefix ?? ''}${key}`, value);
    }
  }
  const lookup = (name: string) => set.get(name) ?? services.get(name);
  for (const { name, value, valueFrom } of container.env ?? []) {
    const resolved = valueFrom
      ? await referencedValue(valueFrom, container, context)
      : expand(value ?? '', lookup);
    if (resolved !== undefined) set.set(name, resolved);
  }
  return new Map([...services, ...set]);
}

/** Returns `texts` with `$(NAME)` replaced from the environment of the container. */
export function expandAll(
  texts: readonly string[] | undefined,
  environment: ReadonlyMap<string, string>,
): string[] {
  return (texts ?? []).map((text) => expand(text, (name) => environment.get(name)));
}

async function sourceEntries(
  source: NonNullable<Container['envFrom']>[number],
  context: EnvironmentContext,
): Promise<[string, string][]> {
  const namespace = context.pod.metadata?.namespace ?? '';
  const { configMapRef, secretRef } = source;
  const entries: [string, string][] = [];
  if (configMapRef) {
    const found = await context.objects.configMap(namespace, configMapRef.name ?? '');
    if (!found && !configMapRef.optional) throw missing('configmap', configMapRef.name);
    entries.push(...Object.entries(found?.data ?? {}));
  }
  if (secretRef) {
    const found = await context.objects.secret(namespace, secretRef.name ?? '');
    if (!found && !secretRef.optional) throw missing('secret', secretRef.name);
    entries.push(
      ...Object.entries(found?.data ?? {}).map(([key, value]): [string, string] => [
        key,
        Buffer.from(value, 'base64').toString('utf8'),
      ]),
    );
  }
  const isUsable = ([key]: [string, string]) => isEnvironmentName(`${source.prefix ?? ''}${key}`);
  const skipped = entries.filter((entry) => !isUsable(entry)).map(([key]) => key);
  if (skipped.length > 0) {
    const from = `${namespace}/${configMapRef?.name ?? secretRef?.name}`;
    context.onSkippedKeys?.(from, skipped.sort());
  }
  return entries.filter(isUsable);
}

async function referencedValue(
  source: EnvVarSource,
  container: Container,
  context: EnvironmentContext,
): Promise<string | undefined> {
  const { pod, objects } = context;
  const namespace = pod.metadata?.namespace ?? '';
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = source;
  if (fieldRef) {
    const value = podField(pod, fieldRef.fieldPath, context.addresses);
    if (value === undefined) {
      throw new BrokenReference(`unsupported field path "${fieldRef.fieldPath}"`);
    }
    return value;
  }
  if (resourceFieldRef) {
    const { containerName } = resourceFieldRef;
    const owner = containerName
      ? containersOf(pod).find(({ name }) => name === containerName)
      : container;
    if (!owner) throw new BrokenReference(`container ${containerName} not found`);
    const value = resourceField(owner, resourceFieldRef, context.allocatable);
    if (value === undefined) {
      throw new BrokenReference(`unsupported container resource: ${resourceFieldRef.resource}`);
    }
    return value;
  }
  if (configMapKeyRef) {
    const { name = '', key, optional } = configMapKeyRef;
    const found = await objects.configMap(namespace, name);
    if (!found && !optional) throw missing('configmap', name);
    const value = found?.data?.[key];
    if (value === undefined && !optional) {
      throw new BrokenReference(`couldn't find key ${key} in ConfigMap ${namespace}/${name}`);
    }
    return value;
  }
  if (secretKeyRef) {
    const { name = '', key, optional } = secretKeyRef;
    const found = await objects.secret(namespace, name);
    if (!found && !optional) throw missing('secret', name);
    const value = found?.data?.[key];
    if (value === undefined && !optional) {
      throw new BrokenReference(`couldn't find key ${key} in Secret ${namespace}/${name}`);
    }
    return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8');
  }
  return undefined;
}

function missing(kind: string, name: string | undefined): BrokenReference {
  return new BrokenReference(`${kind} "${name ?? ''}" not found`);
}
