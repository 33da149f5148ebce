/**
 * Texts for types and fields: those of the descriptors, and what the descriptor itself says of a field:
 * known values, the default, how lists are merged. A name is not said again in other words.
 */
import { enumValues, type FieldDescriptor, schemaType, type TypeName } from '@orch/apimachinery';
import { partsOf } from './models.js';

/** Values named in a description; more would hide the rest of it. */
const valuesShownMax = 40;

const metadataText = 'Name, labels and what else every object has.';

/** Undefined for a type of which nothing is said. */
export function describeType(name: TypeName): string | undefined {
  return schemaType(name).description;
}

/** Undefined for a field of which there is nothing to say. */
export function describeField(owner: TypeName, field: FieldDescriptor): string | undefined {
  const words =
    field.description ?? (field.ref === 'meta/v1.ObjectMeta' ? metadataText : undefined);
  const texts = [...(words === undefined ? [] : [words]), ...facts(owner, field)];
  return texts.length === 0 ? undefined : texts.join(' ');
}

function facts(owner: TypeName, field: FieldDescriptor): string[] {
  const result: string[] = [];
  const values =
    field.enumType === undefined ? [] : enumValues(partsOf(owner).file, field.enumType);
  const shown = values.filter((value) => value !== '').slice(0, valuesShownMax);
  if (shown.length > 0) result.push(`Known values: ${shown.join(', ')}.`);
  if (field.default !== undefined && field.default !== '') {
    result.push(`Default: ${field.default}.`);
  }
  if (field.listMapKeys) result.push(`Elements differ in ${field.listMapKeys.join(', ')}.`);
  else if (field.mergeKey !== undefined)
    result.push(`Patches match elements by ${field.mergeKey}.`);
  return result;
}
