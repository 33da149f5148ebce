/** Reconciles one role or binding with the server: reads it, plans the change, and writes it. */
import { rbacAutoUpdateAnnotation } from '@orch/api';
import {
  type ApiObject,
  isAlreadyExists,
  isConflict,
  isNotFound,
  type ResourceClient,
} from '@orch/client';
import { dialect } from '@orch/component';
import { CliError } from '../command-line/errors.js';
import type { Placed } from '../resources/manifest-target.js';
import type { Session } from '../session/session.js';
import {
  type AnyBinding,
  type AnyRole,
  planBinding,
  planRole,
  type ReconcilePlan,
} from './reconcile-plan.js';

export interface ReconcileOptions {
  readonly removeExtraPermissions: boolean;
  readonly removeExtraSubjects: boolean;
  readonly isDryRun: boolean;
}

export type Reconciled = ReconcilePlan<ApiObject>;

/** Attempts when other writers change the object between reading and writing it. */
const attemptCountMax = 3;

export function isReconcilable({ type }: Placed): boolean {
  return dialect().groupHead(type.groupName) === 'rbac.authorization';
}

export async function reconcile(
  placed: Placed,
  session: Session,
  options: ReconcileOptions,
): Promise<Reconciled> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await reconcileOnce(placed, session, options);
    } catch (error) {
      const isRace = isConflict(error) || isAlreadyExists(error) || isNotFound(error);
      if (!isRace || attempt >= attemptCountMax) throw error;
    }
  }
}

async function reconcileOnce(
  { object: desired, type, client }: Placed,
  session: Session,
  options: ReconcileOptions,
): Promise<Reconciled> {
  const name = desired.metadata?.name;
  if (!name) throw new CliError(`${type.kind} has no metadata.name, which reconcile needs`);
  const existing = await client.get(name).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  const plan: Reconciled = type.kind.endsWith('Binding')
    ? planBinding(
        existing as AnyBinding | undefined,
        desired as AnyBinding,
        options.removeExtraSubjects,
      )
    : planRole(existing as AnyRole | undefined, desired as AnyRole, options.removeExtraPermissions);
  if (plan.isProtected || options.isDryRun) return plan;
  return { ...plan, object: await write(plan, client, session, existing) };
}

async function write(
  { operation, object }: Reconciled,
  client: ResourceClient<ApiObject>,
  session: Session,
  existing: ApiObject | undefined,
): Promise<ApiObject> {
  if (operation === 'none') return object;
  if (operation === 'update') return client.replace(object);
  if (operation === 'create') {
    await ensureNamespace(session, object.metadata?.namespace);
    return client.create(object);
  }
  const { name = '', uid } = existing?.metadata ?? {};
  await refuseInvalid(object, client);
  await client.delete(name, { preconditions: { uid } });
  return client.create(object);
}

/**
 * Throws the error of the server for an object that it would not create, such as a binding to a
 * role with more permissions than those of the user. Nothing has been deleted then.
 */
async function refuseInvalid(object: ApiObject, client: ResourceClient<ApiObject>): Promise<void> {
  const { name, ...metadata } = object.metadata ?? {};
  const renamed = { ...object, metadata: { ...metadata, generateName: `${name}-` } };
  await client.create(renamed, { dryRun: true });
}

/** Creates the namespace of a new role or binding if it is missing. */
async function ensureNamespace({ client }: Session, name: string | undefined): Promise<void> {
  if (!name) return;
  const namespaces = client.resource({ group: 'core', version: 'v1', plural: 'namespaces' });
  try {
    await namespaces.get(name);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await namespaces.create({ metadata: { name } }).catch((failure: unknown) => {
      if (!isAlreadyExists(failure)) throw failure;
    });
  }
}

/** The lines about a change, for standard error. Empty without a change. */
export function reconcileNotes({ operation, isProtected, entryKind, added, removed }: Reconciled) {
  if (operation === 'none') return '';
  const caveat = isProtected ? `, but object opted out (${rbacAutoUpdateAnnotation()}: false)` : '';
  const listed = (title: string, entries: readonly string[]) =>
    entries.length === 0 ? [] : [`\t${title}:`, ...entries.map((entry) => `\t\t${entry}`)];
  const lines = [
    `\treconciliation required ${operation}${caveat}`,
    ...listed(`missing ${entryKind} added`, added),
    ...listed(`extra ${entryKind} removed`, removed),
  ];
  return lines.map((line) => `${line}\n`).join('');
}
