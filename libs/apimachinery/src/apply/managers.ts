/**
 * Who owns which fields of an object: `metadata.managedFields` and its form in memory. Appliers are told
 * apart by name, writers of plain updates by name and version.
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
  /** Version in which `set` is told. */
  readonly apiVersion: string;
  readonly set: FieldSet;
  /** RFC 3339, seconds; undefined when nobody said. */
  readonly time: string | undefined;
}

/** By identifier. Values are never changed, the map is. */
export type Managers = Map<string, Manager>;

const unnamed = 'unknown';

/** Two entries with the same identifier are of the same manager. Sorts as messages list managers. */
export function managerId(name: string, operation: ManagerOperation, apiVersion: string): string {
  return operation === 'Apply'
    ? `${JSON.stringify(name)},Apply`
    : `${JSON.stringify(name)},Update,${apiVersion}`;
}

export function idOf({ name, operation, apiVersion }: Manager): string {
  return managerId(name, operation, apiVersion);
}

/** As conflicts name it. */
export function shownManager({ name, operation, apiVersion }: Manager): string {
  return operation === 'Apply' ? quote(name) : `${quote(name)} using ${apiVersion}`;
}

/** From entries as `entriesOf` made them. */
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

/** From entries that a client sent. Throws FieldSetError for those that make no sense. */
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
  if (operation !== 'Apply' && operation !== 'Update') {
    throw new FieldSetError('operation must be Apply or Update');
  }
  if (apiVersion === '') throw new FieldSetError('apiVersion must not be empty');
  if (fieldsType !== 'FieldsV1') {
    throw new FieldSetError(`unknown fieldsType ${quote(fieldsType)}`);
  }
  const set = fieldsV1 == null ? noFields : fieldSetFromJson(fieldsV1);
  return {
    name: manager,
    operation: operation as ManagerOperation,
    apiVersion,
    set,
    time: time ?? undefined,
  };
}

/** Does a client send what is stored? Most send back what they have read. */
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
    isJsonObject(a.fieldsV1) &&
    isJsonObject(b.fieldsV1) &&
    equalSets(a.fieldsV1 as unknown as FieldSet, b.fieldsV1 as unknown as FieldSet)
  );
}

/** The form that is stored; undefined for no managers at all. */
export function entriesOf(managers: Managers): ManagedFieldsEntry[] | undefined {
  if (managers.size === 0) return undefined;
  return [...managers.values()].sort(compareManagers).map(entryOf);
}

function entryOf({ name, operation, apiVersion, set, time }: Manager): ManagedFieldsEntry {
  const fieldsV1 = set as ManagedFieldsEntry['fieldsV1'];
  // By far the most; adding members one by one costs several times as much.
  if (name !== '' && time !== undefined) {
    return { manager: name, operation, apiVersion, time, fieldsType: 'FieldsV1', fieldsV1 };
  }
  return {
    ...(name !== '' && { manager: name }),
    operation,
    apiVersion,
    ...(time !== undefined && { time }),
    fieldsType: 'FieldsV1',
    fieldsV1,
  };
}

/** Appliers first, then by age. */
function compareManagers(a: Manager, b: Manager): number {
  return (
    compareText(a.operation, b.operation) ||
    compareText(a.time ?? '', b.time ?? '') ||
    compareText(a.name, b.name) ||
    compareText(a.apiVersion, b.apiVersion)
  );
}

/** Sets what a manager owns; one that owns nothing is forgotten. */
export function setOwned(managers: Managers, id: string, manager: Manager): void {
  if (isEmptySet(manager.set)) managers.delete(id);
  else managers.set(id, manager);
}

const notPrintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

/** `fieldManager` of the request, or the first part of the user agent. */
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
