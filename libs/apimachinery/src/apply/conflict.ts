/** Conflicts as clients are told of them. */
import { applyConflict } from '../status/errors.js';
import type { StatusError } from '../status/status-error.js';
import { pathsOf } from './field-set.js';
import { idOf, shownManager } from './managers.js';
import type { Conflict } from './ownership.js';
import { compareText, shownPath } from './path-element.js';

interface Shown {
  readonly manager: string;
  readonly path: string;
}

/** The refusal with a cause for each field. */
export function conflictStatus(conflicts: readonly Conflict[]): StatusError {
  const inOrder = [...conflicts].sort((a, b) => compareText(idOf(a.manager), idOf(b.manager)));
  const shown: Shown[] = inOrder.flatMap(({ manager, fields }) =>
    [...pathsOf(fields)].map((path) => ({
      manager: shownManager(manager),
      path: shownPath(path),
    })),
  );
  const causes = shown.map(({ manager, path }) => ({
    reason: 'FieldManagerConflict' as const,
    message: `conflict with ${manager}`,
    field: path,
  }));
  return applyConflict(messageOf(shown), causes);
}

function messageOf(shown: readonly Shown[]): string {
  const [first] = shown;
  if (shown.length === 1 && first) {
    return `Apply failed with 1 conflict: conflict with ${first.manager}: ${first.path}`;
  }
  const lines: string[] = [];
  let manager: string | undefined;
  for (const conflict of shown) {
    if (conflict.manager !== manager) lines.push(`conflicts with ${conflict.manager}:`);
    manager = conflict.manager;
    lines.push(`- ${conflict.path}`);
  }
  return `Apply failed with ${shown.length} conflicts: ${lines.join('\n')}`;
}
