/**
 * Descriptions of types and fields: the texts of the descriptors, and the constraints of a field:
 * known values, the default, how lists are merged. Names are not repeated in other words.
 */
import { enumValues, type FieldDescriptor, schemaType, type TypeName } from '@orch/apimachinery';
import { partsOf } from './models.js';

/** Values listed in a description; more would obscure the rest of it. */
const listedValuesMax = 40;

const metadataText = 'Standard object metadata, such as name and labels.';

/** Undefined for a type without a description. */
export function describeType(name: TypeName): string | undefined {
  return schemaType(name).description;
}

/** Undefined for a field without a description. */
export function describeField(owner: TypeName, field: FieldDescriptor): string | undefined {
  const words =
    field.description ?? (field.ref === 'meta/v1.ObjectMeta' ? metadataText : undefined);
  const texts = [...(words === undefined ? [] : [words]), ...constraints(owner, field)];
  return texts.length === 0 ? undefined : texts.join(' ');
}

function constraints(owner: TypeName, field: FieldDescriptor): string[] {
  const result: string[] = [];
  const values =
    field.enumType === undefined ? [] : enumValues(partsOf(owner).file, field.enumType);
  const listed = values.filter((value) => value !== '').slice(0, listedValuesMax);
  if (listed.length > 0) result.push(`Known values: ${listed.join(', ')}.`);
  if (field.default !== undefined && field.default !== '') {
    result.push(`Default: ${field.default}.`);
  }
  if (field.listMapKeys) result.push(`Elements differ in ${field.listMapKeys.join(', ')}.`);
  else if (field.mergeKey !== undefined)
    result.push(`Patches match elements by ${field.mergeKey}.`);
  return result;
}
