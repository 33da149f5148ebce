/** Table columns of resource usage. */
import { Quantity } from '@orch/apimachinery';
import type { ApiObject, TableColumn } from '../definition.js';
import { nameColumn } from '../shared/columns.js';

type Usage = Readonly<Record<string, string>>;

interface Measured extends ApiObject {
  readonly window?: string;
}

/** `usagesOf`: the usages whose sums the columns show. */
export function usageColumns<T extends Measured>(
  usagesOf: (object: T) => readonly Usage[],
): TableColumn<T>[] {
  const column = (name: string, resource: string, description: string): TableColumn<T> => ({
    name,
    type: 'string',
    description,
    cell: (object) => sumOf(usagesOf(object), resource),
  });
  return [
    nameColumn(),
    column('cpu', 'cpu', 'Average CPU use over the window, in cores.'),
    column('memory', 'memory', 'Working set in bytes.'),
    {
      name: 'Window',
      type: 'string',
      description: 'Time over which the CPU use was measured.',
      cell: ({ window }) => window ?? '',
    },
  ];
}

function sumOf(usages: readonly Usage[], resource: string): string {
  const total = usages.reduce(
    (sum, usage) => sum.add(Quantity.parse(usage[resource] ?? '0')),
    Quantity.zero,
  );
  return total.toString();
}
