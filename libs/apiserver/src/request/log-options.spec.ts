import { describe, expect, it } from 'vitest';
import { Query } from '../http/query.js';
import { parseLogOptions } from './log-options.js';

describe('options of logs', () => {
  it.each([
    '',
    'tailLines=0&limitBytes=1&sinceSeconds=1&follow=true&timestamps=1',
    'sinceTime=2026-11-22T15:20:40Z',
    'sinceTime=null',
  ])('are fine: %s', (query) => {
    expect(() => parseLogOptions(new Query(query), 'p')).not.toThrow();
  });

  const negative = 'Invalid value: -1: must be greater than or equal to 0';
  const both = '`sinceTime` or `sinceSeconds` may be specified';
  it.each([
    ['tailLines=-1', 422, `PodLogOptions "p" is invalid: tailLines: ${negative}`],
    ['limitBytes=0', 422, 'limitBytes: Invalid value: 0: must be greater than 0'],
    ['sinceSeconds=0', 422, 'sinceSeconds: Invalid value: 0: must be greater than 0'],
    ['sinceSeconds=1&sinceTime=2026-11-22T15:20:40Z', 422, `Forbidden: at most one of ${both}`],
    ['tailLines=many', 400, 'strconv.ParseInt: parsing "many": invalid syntax'],
    ['sinceTime=yesterday', 400, 'parsing time "yesterday"'],
  ])('are refused: %s', (query, code, message) => {
    const check = () => parseLogOptions(new Query(query), 'p');
    expect(check).toThrow(message);
    expect(check).toThrow(expect.objectContaining({ code }));
  });
});
