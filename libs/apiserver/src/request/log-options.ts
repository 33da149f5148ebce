/** The options of the `log` subresource, checked before anything is looked up. */
import { badRequest, type FieldError, fieldError, invalid, parseTime } from '@orch/apimachinery';
import { parseInteger } from './list-options.js';
import type { Query } from './query.js';

function integer(query: Query, name: string): number | undefined {
  return query.has(name) ? parseInteger(query, name) : undefined;
}

/** Empty and `null` say nothing. Throws 400 for what is no time. */
function checkTime(text: string): void {
  if (text === '' || text === 'null' || parseTime(text) !== undefined) return;
  throw badRequest(
    `parsing time ${JSON.stringify(text)} as "2006-01-02T15:04:05Z07:00": cannot parse ${JSON.stringify(text)}`,
  );
}

/** Throws 400 for what cannot be read, 422 for what makes no sense. */
export function checkLogOptions(query: Query, podName: string): void {
  if (query.isEmpty) return;
  const tailLines = integer(query, 'tailLines');
  const limitBytes = integer(query, 'limitBytes');
  const sinceSeconds = integer(query, 'sinceSeconds');
  checkTime(query.get('sinceTime'));
  const errors: FieldError[] = [];
  if (tailLines !== undefined && tailLines < 0) {
    errors.push(fieldError.invalid('tailLines', tailLines, 'must be greater than or equal to 0'));
  }
  for (const [field, value] of Object.entries({ limitBytes, sinceSeconds })) {
    if (value === undefined || value >= 1) continue;
    errors.push(fieldError.invalid(field, value, 'must be greater than 0'));
  }
  if (sinceSeconds !== undefined && query.has('sinceTime')) {
    errors.push(
      fieldError.forbidden('', 'at most one of `sinceTime` or `sinceSeconds` may be specified'),
    );
  }
  if (errors.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, podName, errors);
}
