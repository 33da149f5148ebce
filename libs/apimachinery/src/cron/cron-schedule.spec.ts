import { describe, expect, it } from 'vitest';
import { type CronFields, parseCronSchedule } from './cron-schedule.js';

function fields(text: string): CronFields {
  const { when } = parseCronSchedule(text);
  if ('everyMs' in when) throw new Error('not fields');
  return when;
}

describe('cron schedules', () => {
  it('expand the values of each field', () => {
    const { minutes, hours, daysOfMonth, months, daysOfWeek } = fields(
      '*/20  5-7,9 31/1 JAN-mar,12 sun',
    );
    expect([...minutes]).toEqual([0, 20, 40]);
    expect([...hours]).toEqual([5, 6, 7, 9]);
    expect([...daysOfMonth]).toEqual([31]);
    expect([...months]).toEqual([1, 2, 3, 12]);
    expect([...daysOfWeek]).toEqual([0]);
    expect([...fields('10/25 * * * *').minutes]).toEqual([10, 35]);
  });

  it('detect stars in the day fields', () => {
    expect(fields('0 0 ? * 1')).toMatchObject({ anyDayOfMonth: true, anyDayOfWeek: false });
    expect(fields('0 0 1 * */2')).toMatchObject({ anyDayOfMonth: false, anyDayOfWeek: true });
  });

  it.each([
    ['@yearly', '0 0 1 1 *'],
    ['@annually', '0 0 1 1 *'],
    ['@monthly', '0 0 1 * *'],
    ['@weekly', '0 0 * * 0'],
    ['@daily', '0 0 * * *'],
    ['@midnight', '0 0 * * *'],
    ['@hourly', '0 * * * *'],
  ])('read %s as %s', (word, text) => {
    expect(parseCronSchedule(word)).toEqual(parseCronSchedule(text));
  });

  it('accept intervals of whole seconds, and time zones', () => {
    expect(parseCronSchedule('@every 1h30m').when).toEqual({ everyMs: 5_400_000 });
    expect(parseCronSchedule('@every 1500ms').when).toEqual({ everyMs: 1_000 });
    expect(parseCronSchedule('@every 1ms').when).toEqual({ everyMs: 1_000 });
    expect(parseCronSchedule('CRON_TZ=Europe/Paris 0 3 * * *')).toEqual({
      ...parseCronSchedule('0 3 * * *'),
      timeZone: 'Europe/Paris',
    });
    expect(parseCronSchedule('TZ=UTC @daily').timeZone).toBe('UTC');
  });

  it.each([
    ['now and then', 'Expected exactly 5 fields, found 3: now and then'],
    ['99 * * * *', 'End of range (99) above maximum (59): 99'],
    ['* * 0 * *', 'Beginning of range (0) below minimum (1): 0'],
    ['* 7-5 * * *', 'Beginning of range (7) beyond end of range (5): 7-5'],
    ['*/0 * * * *', 'Step of range should be a positive number: */0'],
    ['1-2-3 * * * *', 'Too many hyphens: 1-2-3'],
    ['1/2/3 * * * *', 'Too many slashes: 1/2/3'],
    ['x * * * *', 'Failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
    ['*/-1 * * * *', 'Negative number (-1) not allowed: -1'],
    ['@often', 'Unrecognized descriptor: @often'],
    ['@every x', 'Failed to parse duration @every x: time: invalid duration "x"'],
    ['TZ=Nowhere * * * * *', 'Provided bad location Nowhere: unknown time zone Nowhere'],
    ['TZ=UTC', 'Empty spec string'],
  ])('reject %s', (text, message) => {
    expect(() => parseCronSchedule(text)).toThrow(message);
  });
});
