/**
 * What the token secrets of one service account need. Pure. A token secret names its account in an
 * annotation; the account lists one of them in `secrets`.
 */
import { dialect } from '@orch/component';
import type { Secret, ServiceAccount } from '@orch/types/core/v1';

export function tokenSecretType(): string {
  return `${dialect().keyDomain}/service-account-token`;
}

const nameAnnotation = () => `${dialect().keyDomain}/service-account.name`;
const uidAnnotation = () => `${dialect().keyDomain}/service-account.uid`;

/** The name of the account that a secret is for; '' if it names none. */
export function accountNameIn({ metadata }: Secret): string {
  return metadata?.annotations?.[nameAnnotation()] ?? '';
}

/** Whether the secret is for this account, and not for an earlier one of the same name. */
export function isTokenOf({ metadata }: ServiceAccount, secret: Secret): boolean {
  if (secret.type !== tokenSecretType() || accountNameIn(secret) !== metadata?.name) return false;
  const uid = secret.metadata?.annotations?.[uidAnnotation()] ?? '';
  return uid === '' || uid === metadata?.uid;
}

/** The secrets that name the account but are for none, or for an earlier one of the same name. */
export function orphanedSecrets(
  account: ServiceAccount | undefined,
  secrets: readonly Secret[],
): Secret[] {
  return secrets.filter((secret) => !account || !isTokenOf(account, secret));
}

/** The parts of a token secret that its account and the cluster determine. */
export interface SecretFill {
  readonly metadata: NonNullable<Secret['metadata']>;
  /** Base64 by key, without the token. */
  readonly data: Record<string, string>;
  readonly needsToken: boolean;
}

/**
 * What a secret of the account must become; undefined if it is complete or cannot change. A token
 * that it stores remains, so that its bearers retain access.
 */
export function secretFill(
  account: ServiceAccount,
  secret: Secret,
  authorityPem: string | undefined,
): SecretFill | undefined {
  const { metadata = {}, data = {}, immutable } = secret;
  if (immutable || metadata.deletionTimestamp) return undefined;
  const wanted = {
    ...(authorityPem !== undefined && { 'ca.crt': base64(authorityPem) }),
    // A namespace that a user set remains.
    namespace: data.namespace || base64(metadata.namespace ?? ''),
  };
  const needsToken = !data.token;
  const isComplete = Object.entries(wanted).every(([key, value]) => data[key] === value);
  if (isComplete && !needsToken) return undefined;
  const annotations = {
    ...metadata.annotations,
    [nameAnnotation()]: account.metadata?.name ?? '',
    [uidAnnotation()]: account.metadata?.uid ?? '',
  };
  return { metadata: { ...metadata, annotations }, data: { ...data, ...wanted }, needsToken };
}

/** A secret for the account, to be filled. */
export function emptySecret({ metadata }: ServiceAccount, name: string): Secret {
  const annotations = {
    [nameAnnotation()]: metadata?.name ?? '',
    [uidAnnotation()]: metadata?.uid ?? '',
  };
  const { namespace = '' } = metadata ?? {};
  return { metadata: { name, namespace, annotations }, type: tokenSecretType() };
}

/** Whether the account lists a secret of this name. */
export function isListed({ secrets = [] }: ServiceAccount, name: string): boolean {
  return secrets.some((reference) => reference.name === name);
}

export function withReference(account: ServiceAccount, name: string): ServiceAccount {
  return { ...account, secrets: [...(account.secrets ?? []), { name }] };
}

export function withoutReference(account: ServiceAccount, name: string): ServiceAccount {
  const secrets = (account.secrets ?? []).filter((reference) => reference.name !== name);
  return { ...account, secrets };
}

export function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
