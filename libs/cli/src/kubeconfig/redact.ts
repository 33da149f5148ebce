/** A kubeconfig for display: without secrets, or with the entries of one context only. */
import type { Kubeconfig } from '@orch/component';

const secretFields = ['token', 'password'];
const bytesFields = ['certificate-authority-data', 'client-certificate-data', 'client-key-data'];
const redacted = 'REDACTED';

type Fields = Record<string, unknown>;

export function withoutSecrets(config: Kubeconfig): Kubeconfig {
  return {
    ...config,
    clusters: config.clusters.map((entry) => ({ ...entry, cluster: hidden(entry.cluster) })),
    users: config.users.map((entry) => ({ ...entry, user: hidden(entry.user) })),
  };
}

function hidden<T extends object>(entry: T): T {
  const fields = Object.entries(entry).map(([key, value]): [string, unknown] => {
    if (secretFields.includes(key)) return [key, redacted];
    if (bytesFields.includes(key)) return [key, 'DATA+OMITTED'];
    if (key === 'exec') return [key, hiddenPlugin(value)];
    if (key === 'auth-provider') return [key, hiddenProvider(value)];
    if (key === 'proxy-url') return [key, hiddenPassword(value)];
    return [key, value];
  });
  return Object.fromEntries(fields) as T;
}

/** The environment of a credential plug-in may contain keys. */
function hiddenPlugin(plugin: unknown): unknown {
  if (!isFields(plugin) || !Array.isArray(plugin.env)) return plugin;
  const env = plugin.env.map((entry: unknown) =>
    isFields(entry) ? { ...entry, value: redacted } : redacted,
  );
  return { ...plugin, env };
}

/** The settings of a provider contain its tokens. */
function hiddenProvider(provider: unknown): unknown {
  if (!isFields(provider) || !isFields(provider.config)) return provider;
  const config = Object.fromEntries(Object.keys(provider.config).map((key) => [key, redacted]));
  return { ...provider, config };
}

function hiddenPassword(url: unknown): unknown {
  if (typeof url !== 'string') return url;
  return url.replace(/^([^:/]+:\/\/[^:@/]*):[^@/]*@/, `$1:${redacted}@`);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function minified(config: Kubeconfig, contextName = config['current-context']): Kubeconfig {
  const contexts = config.contexts.filter(({ name }) => name === contextName);
  const used = contexts[0]?.context;
  return {
    ...config,
    contexts,
    clusters: config.clusters.filter(({ name }) => name === used?.cluster),
    users: config.users.filter(({ name }) => name === used?.user),
    'current-context': contextName,
  };
}
