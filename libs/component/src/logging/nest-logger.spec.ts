import { Logger as NestLogger } from '@nestjs/common';
import { afterEach, describe, expect, it } from 'vitest';
import { createLogger } from './create-logger.js';
import { nestLogger } from './nest-logger.js';

function logged(write: () => void): Record<string, unknown>[] {
  const lines: string[] = [];
  const logger = createLogger({
    component: 'test',
    format: 'json',
    level: 'debug',
    write: (line) => lines.push(line),
  });
  NestLogger.overrideLogger(nestLogger(logger));
  write();
  return lines.map((line) => JSON.parse(line));
}

describe('nestLogger', () => {
  afterEach(() => NestLogger.overrideLogger(false));

  it.each(['ExceptionHandler', '_ExceptionHandler'])(
    'logs an error during composition at level debug (%s)',
    (context) => {
      const lines = logged(() => new NestLogger(context).error(new Error('cannot read ca.pem')));
      expect(lines).toMatchObject([
        { level: 'debug', context: 'ExceptionHandler', msg: 'cannot read ca.pem' },
      ]);
    },
  );

  it('logs errors of other classes at level error', () => {
    const lines = logged(() => {
      new NestLogger('RoutesResolver').error(new Error('no route'));
      new NestLogger('RoutesResolver').error('no route', 'at first line');
    });
    expect(lines).toMatchObject([
      { level: 'error', context: 'RoutesResolver', msg: 'no route' },
      { level: 'error', context: 'RoutesResolver', msg: 'no route' },
    ]);
  });

  it('logs messages of the start at level debug, and warnings as such', () => {
    const lines = logged(() => {
      new NestLogger('NestFactory').log('Starting');
      new NestLogger('NestFactory').warn('Deprecated');
    });
    expect(lines.map(({ level }) => level)).toEqual(['debug', 'warn']);
  });
});
