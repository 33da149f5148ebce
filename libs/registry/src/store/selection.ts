/**
 * Which objects of a collection a request is about: label and field selectors, checked and
 * compiled.
 */
import {
  badRequest,
  checkSelectableFields,
  everyFieldSelector,
  everyLabelSelector,
  type FieldSelector,
  type LabelSelector,
  parseFieldSelector,
  parseLabelSelector,
  SelectorError,
  unknownFieldMessage,
  unsupportedFieldMessage,
} from '@orch/apimachinery';
import type { Entry, WatchOptions } from '@orch/store';
import { objectOf } from '../objects/entry-view.js';
import type { ServedResource } from '../table/resource.js';
import { type FieldReader, fieldIndex, nameIndex } from './watch-indexes.js';

export class Selection {
  /** Nothing is left out. */
  readonly everything: boolean;
  /** Every object that passes has this name, this namespace. */
  readonly name: string | undefined;
  readonly namespace: string | undefined;
  private readonly needsObject: boolean;
  /** By the fields that are selected by. */
  private readonly readers = new Map<string, FieldReader>();

  constructor(
    private readonly served: ServedResource,
    readonly labels: LabelSelector,
    readonly fields: FieldSelector,
  ) {
    this.everything = labels.everything && fields.everything;
    this.name = fields.exactValue('metadata.name');
    this.namespace = fields.exactValue('metadata.namespace');
    this.needsObject =
      !labels.everything ||
      fields.requirements.some(
        ({ field }) => field !== 'metadata.name' && field !== 'metadata.namespace',
      );
    for (const { field } of fields.requirements) this.readers.set(field, readerOf(served, field));
  }

  matches(entry: Entry): boolean {
    if (this.everything) return true;
    const { resource } = this.served;
    if (this.name !== undefined && resource.nameOfKey(entry.key) !== this.name) return false;
    if (!this.needsObject) {
      return this.fields.matches((field) =>
        field === 'metadata.name'
          ? resource.nameOfKey(entry.key)
          : resource.namespaceOfKey(entry.key),
      );
    }
    const object = objectOf(entry);
    return (
      this.labels.matches(object.metadata?.labels) &&
      (this.fields.everything || this.fields.matches((field) => this.readers.get(field)!(object)))
    );
  }

  /**
   * A value that every object that passes has, and how a watch is found by it. Undefined if none.
   * Namespaces need no index: they are part of the prefix of a watch.
   */
  watchIndex(): WatchOptions['selects'] {
    if (this.name !== undefined) {
      return { index: nameIndex(this.served.resource), value: this.name };
    }
    for (const { field, negated, value } of this.fields.requirements) {
      const read = negated ? undefined : selectableField(this.served, field);
      if (read) return { index: fieldIndex(read), value };
    }
    return undefined;
  }
}

function readerOf(served: ServedResource, field: string): FieldReader {
  if (field === 'metadata.name') return ({ metadata }) => metadata?.name ?? '';
  if (field === 'metadata.namespace') return ({ metadata }) => metadata?.namespace ?? '';
  return selectableField(served, field) ?? (() => '');
}

/** What reads the field of an object; undefined for one that cannot be selected by. */
function selectableField(
  { served, definition }: ServedResource,
  field: string,
): FieldReader | undefined {
  const label = own(served.selectableFieldAliases, field) ?? field;
  return own(definition.selectableFields, label);
}

/** Reads own members only: the client names the member, and inherited ones must not match. */
function own<Value>(members: Readonly<Record<string, Value>> | undefined, name: string) {
  return members && Object.hasOwn(members, name) ? members[name] : undefined;
}

/** Throws 400 for selectors that cannot be read and for fields that cannot be selected by. */
export function parseSelection(
  served: ServedResource,
  labelText: string,
  fieldText: string,
): Selection {
  if (labelText === '' && fieldText === '') {
    return new Selection(served, everyLabelSelector, everyFieldSelector);
  }
  try {
    const labels = parseLabelSelector(labelText);
    const fields = parseFieldSelector(fieldText);
    const kinds = served.definition.selectableFields;
    const empty = served.served.emptySelectableFields;
    checkSelectableFields(
      fields,
      (field) =>
        field === 'metadata.name' ||
        (field === 'metadata.namespace' && (served.definition.namespaced || !kinds)) ||
        empty?.includes(field) ||
        selectableField(served, field) !== undefined,
      kinds || empty ? unsupportedFieldMessage : unknownFieldMessage,
    );
    return new Selection(served, labels, fields);
  } catch (error) {
    if (error instanceof SelectorError) throw badRequest(error.message);
    throw error;
  }
}
