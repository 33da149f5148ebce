/** Status of an apply conflict. */
import { applyConflict } from '../status/errors.js';
import type { StatusError } from '../status/status-error.js';
import { pathsOf } from './field-set.js';
import { idOf, managerText } from './managers.js';
import type { Conflict } from './ownership.js';
import { compareText, pathText } from './path-element.js';

interface FieldConflict {
  readonly manager: string;
  readonly path: string;
}

/** The 409 response, with one cause per field. */
export function conflictStatus(conflicts: readonly Conflict[]): StatusError {
  const inOrder = [...conflicts].sort((a, b) => compareText(idOf(a.manager), idOf(b.manager)));
  const fieldConflicts: FieldConflict[] = inOrder.flatMap(({ manager, fields }) =>
    [...pathsOf(fields)].map((path) => ({
      manager: managerText(manager),
      path: pathText(path),
    })),
  );
  const causes = fieldConflicts.map(({ manager, path }) => ({
    reason: 'FieldManagerConflict' as const,
    message: `conflict with ${manager}`,
    field: path,
  }));
  return applyConflict(messageOf(fieldConflicts), causes);
}

function messageOf(conflicts: readonly FieldConflict[]): string {
  const [first] = conflicts;
  if (conflicts.length === 1 && first) {
    return `Apply failed with 1 conflict: conflict with ${first.manager}: ${first.path}`;
  }
  const lines: string[] = [];
  let manager: string | undefined;
  for (const conflict of conflicts) {
    if (conflict.manager !== manager) lines.push(`conflicts with ${conflict.manager}:`);
    manager = conflict.manager;
    lines.push(`- ${conflict.path}`);
  }
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}
