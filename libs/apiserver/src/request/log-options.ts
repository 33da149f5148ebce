/** The options of `pods/log`, as clients send them and as they are sent to node agents. */
import { badRequest, type FieldError, fieldError, invalid, parseTime } from '@orch/apimachinery';
import type { Query } from '../http/query.js';
import { parseInteger } from './list-options.js';

export interface LogOptions {
  /** Empty: the only container. */
  readonly container: string;
  /** The agent's certificate is not checked. */
  readonly skipsTlsVerification: boolean;
  /** The query of the request to the agent. */
  readonly parameters: URLSearchParams;
}

const flags = ['follow', 'previous', 'timestamps'] as const;
const notNegative = 'must be greater than or equal to 0';
const positive = 'must be greater than 0';

/** Throws 400 for an invalid number or time, 422 for a value out of range. */
export function parseLogOptions(query: Query, podName: string): LogOptions {
  const parameters = new URLSearchParams();
  for (const name of flags) if (query.flag(name)) parameters.set(name, 'true');
  const errors: FieldError[] = [];
  const number = (name: string, least: number, rule: string) => {
    if (!query.has(name)) return;
    const value = parseInteger(query, name);
    parameters.set(name, String(value));
    if (value < least) errors.push(fieldError.invalid(name, value, rule));
  };
  number('tailLines', 0, notNegative);
  number('limitBytes', 1, positive);
  const sinceTime = sinceTimeOf(query);
  if (sinceTime !== '' && query.has('sinceSeconds')) {
    const rule = 'at most one of `sinceTime` or `sinceSeconds` may be specified';
    errors.push(fieldError.forbidden('', rule));
  } else {
    number('sinceSeconds', 1, positive);
    if (sinceTime !== '') parameters.set('sinceTime', sinceTime);
  }
  if (errors.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, podName, errors);
  return {
    container: query.get('container'),
    skipsTlsVerification: query.flag('insecureSkipTLSVerifyBackend'),
    parameters,
  };
}

/** Older clients send `null` for no time. */
function sinceTimeOf(query: Query): string {
  const text = query.get('sinceTime');
  if (text === '' || text === 'null') return '';
  if (parseTime(text) === undefined) {
    const quoted = JSON.stringify(text);
    throw badRequest(
      `parsing time ${quoted} as "2006-01-02T15:04:05Z07:00": cannot parse ${quoted}`,
    );
  }
  return text;
}
