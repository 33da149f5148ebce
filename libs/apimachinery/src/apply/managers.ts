/**
 * The owners of the fields of an object: `metadata.managedFields` and its form in memory. Apply
 * managers are identified by name, update managers by name and version.
 */
import type { ManagedFieldsEntry } from '../generated/meta/v1.js';
import { managerNameBytesMax } from '../limits.js';
import { isJsonObject } from '../patch/json-values.js';
import { quote } from '../status/value-format.js';
import { equalSets, type FieldSet, isEmptySet, noFields } from './field-set.js';
import { fieldSetFromJson } from './field-set-json.js';
import { compareText, FieldSetError } from './path-element.js';

export type ManagerOperation = 'Apply' | 'Update';

export interface Manager {
  readonly name: string;
  readonly operation: ManagerOperation;
  /** Version of the field set. */
  readonly apiVersion: string;
  readonly set: FieldSet;
  /** RFC 3339, seconds; undefined if not recorded. */
  readonly time: string | undefined;
}

/** Keyed by identifier. The values are immutable, the map is not. */
export type Managers = Map<string, Manager>;

const unnamed = 'unknown';

/**
 * Entries with the same identifier belong to the same manager. Sorts in the order in which messages
 * list managers.
 */
export function managerId(name: string, operation: ManagerOperation, apiVersion: string): string {
  return operation === 'Apply'
    ? `${JSON.stringify(name)},Apply`
    : `${JSON.stringify(name)},Update,${apiVersion}`;
}

export function idOf({ name, operation, apiVersion }: Manager): string {
  return managerId(name, operation, apiVersion);
}

/** The manager as conflict messages name it. */
export function managerText({ name, operation, apiVersion }: Manager): string {
  return operation === 'Apply' ? quote(name) : `${quote(name)} using ${apiVersion}`;
}

/** Parses entries that `entriesOf` wrote. */
export function managersStored(entries: readonly ManagedFieldsEntry[] | undefined): Managers {
  const managers: Managers = new Map();
  for (const { manager: name = '', operation, apiVersion = '', time, fieldsV1 } of entries ?? []) {
    const manager: Manager = {
      name,
      operation: operation as ManagerOperation,
      apiVersion,
      set: (fieldsV1 as FieldSet | undefined) ?? noFields,
      time: time ?? undefined,
    };
    managers.set(idOf(manager), manager);
  }
  return managers;
}

/** Parses entries that a client sent. Throws FieldSetError if they are invalid. */
export function managersSent(entries: readonly ManagedFieldsEntry[] | undefined): Managers {
  const managers: Managers = new Map();
  for (const entry of entries ?? []) {
    const manager = managerFrom(entry);
    managers.set(idOf(manager), manager);
  }
  return managers;
}

function managerFrom(entry: ManagedFieldsEntry): Manager {
  const { manager = '', operation, apiVersion = '', time, fieldsType = '', fieldsV1 } = entry;
  if (!isManagerOperation(operation)) {
    throw new FieldSetError('operation must be Apply or Update');
  }
  if (apiVersion === '') throw new FieldSetError('apiVersion must not be empty');
  if (fieldsType !== 'FieldsV1') {
    throw new FieldSetError(`unknown fieldsType ${quote(fieldsType)}`);
  }
  const set = fieldsV1 == null ? noFields : fieldSetFromJson(fieldsV1);
  return {
    name: manager,
    operation,
    apiVersion,
    set,
    time: time ?? undefined,
  };
}

function isManagerOperation(operation: string | undefined): operation is ManagerOperation {
  return operation === 'Apply' || operation === 'Update';
}

/** Reports whether the client sent the stored entries. Most clients do. */
export function sameEntries(
  sent: readonly ManagedFieldsEntry[],
  stored: readonly ManagedFieldsEntry[] | undefined,
): boolean {
  return sent.length === stored?.length && sent.every((entry, at) => sameEntry(entry, stored[at]!));
}

function sameEntry(a: ManagedFieldsEntry, b: ManagedFieldsEntry): boolean {
  return (
    a.manager === b.manager &&
    a.operation === b.operation &&
    a.apiVersion === b.apiVersion &&
    a.time === b.time &&
    a.fieldsType === b.fieldsType &&
    hasSetForm(a.fieldsV1) &&
    hasSetForm(b.fieldsV1) &&
    equalSets(a.fieldsV1, b.fieldsV1)
  );
}

/** Reports whether it can be compared as a set. Its elements are not checked. */
function hasSetForm(fieldsV1: unknown): fieldsV1 is FieldSet {
  return isJsonObject(fieldsV1);
}

/** The stored form; undefined if there are no managers. */
export function entriesOf(managers: Managers): ManagedFieldsEntry[] | undefined {
  if (managers.size === 0) return undefined;
  return [...managers.values()].sort(compareManagers).map(entryOf);
}

function entryOf({ name, operation, apiVersion, set, time }: Manager): ManagedFieldsEntry {
  // The common case; adding members one by one costs several times as much.
  if (name !== '' && time !== undefined) {
    return { manager: name, operation, apiVersion, time, fieldsType: 'FieldsV1', fieldsV1: set };
  }
  return {
    ...(name !== '' && { manager: name }),
    operation,
    apiVersion,
    ...(time !== undefined && { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: set,
  };
}

/** Apply managers first, then by age. */
function compareManagers(a: Manager, b: Manager): number {
  return (
    compareText(a.operation, b.operation) ||
    compareText(a.time ?? '', b.time ?? '') ||
    compareText(a.name, b.name) ||
    compareText(a.apiVersion, b.apiVersion)
  );
}

/** Sets the fields of a manager; removes a manager without fields. */
export function setOwned(managers: Managers, id: string, manager: Manager): void {
  if (isEmptySet(manager.set)) managers.delete(id);
  else managers.set(id, manager);
}

const notPrintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

/** Returns the `fieldManager` of the request, or the first part of the user agent. */
export function managerName(fieldManager: string, userAgent: string | undefined): string {
  if (fieldManager !== '') return fieldManager;
  const agent = userAgent ?? '';
  const slash = agent.indexOf('/');
  const name = (slash < 0 ? agent : agent.slice(0, slash)).replace(notPrintable, '');
  return name === '' ? unnamed : cut(name);
}

function cut(name: string): string {
  if (name.length * 4 <= managerNameBytesMax) return name;
  let bytes = 0;
  let result = '';
  for (const character of name) {
    bytes += Buffer.byteLength(character);
    if (bytes > managerNameBytesMax) break;
    result += character;
  }
  return result;
}
