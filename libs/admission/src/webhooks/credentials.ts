/**
 * The configuration of the webhook plugins: a kubeconfig whose users are the credentials of this
 * server for webhooks, by host, by `*.` and the end of one, or `*` for all.
 */
import { resolve } from 'node:path';
import {
  credentialsOf,
  KubeconfigError,
  readKubeconfig,
  type UserCredentials,
  ValueError,
} from '@orch/component';
import { checkCredentials, type WebhookAddress } from '@orch/security';
import { type ConfigurationDocument, checkedObject } from '../configuration/document.js';

export type CredentialsFor = (address: WebhookAddress) => UserCredentials | undefined;

export const noCredentials: CredentialsFor = () => undefined;

/** Its two versions name the kind differently. */
const kinds = [
  ['WebhookAdmissionConfiguration', 'apiserver.config', 'v1'],
  ['WebhookAdmission', 'apiserver.config', 'v1alpha1'],
] as const;

const servicePort = 443;

/** Throws ValueError. */
export function readCredentials(document: ConfigurationDocument): CredentialsFor {
  const { kind: given } = (document.value ?? {}) as { readonly kind?: unknown };
  const [kind, head, version] = kinds.find(([name]) => name === given) ?? kinds[0];
  const fields = checkedObject(document, kind, [[head, version]], { kubeConfigFile: 'string' });
  const { kubeConfigFile = '' } = fields;
  if (kubeConfigFile === '') return noCredentials;
  const path = resolve(document.directory, String(kubeConfigFile));
  try {
    return credentialsIn(path);
  } catch (error) {
    if (!(error instanceof KubeconfigError)) throw error;
    throw new ValueError(`${document.file}: kubeConfigFile: ${error.message}`);
  }
}

/** Throws KubeconfigError. */
function credentialsIn(path: string): CredentialsFor {
  const config = readKubeconfig(path);
  const byName = new Map<string, UserCredentials>();
  for (const { name, user } of config.users) {
    checkCredentials(user, 'admission webhook');
    byName.set(name, credentialsOf(path, user));
  }
  const context = config.contexts.find(({ name }) => name === config['current-context']);
  const fallback = byName.get('*') ?? byName.get(context?.context.user ?? '');
  return (address) => {
    const host = hostOf(address);
    const withoutPort = host.replace(`:${servicePort}`, '');
    return credentialsOfHost(byName, host) ?? credentialsOfHost(byName, withoutPort) ?? fallback;
  };
}

/** With the port. */
function hostOf({ url, service }: WebhookAddress): string {
  if (service) {
    const { name, namespace, port = servicePort } = service;
    return `${name}.${namespace}.svc:${port}`;
  }
  const { hostname, port } = new URL(url ?? '');
  return `${hostname}:${port || servicePort}`;
}

function credentialsOfHost(
  byName: ReadonlyMap<string, UserCredentials>,
  host: string,
): UserCredentials | undefined {
  const exact = byName.get(host);
  if (exact) return exact;
  const steps = host.split('.');
  for (let first = 1; first < steps.length; first += 1) {
    const found = byName.get(`*.${steps.slice(first).join('.')}`);
    if (found) return found;
  }
  return undefined;
}
