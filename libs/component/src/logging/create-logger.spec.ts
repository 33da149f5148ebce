import { describe, expect, it } from 'vitest';
import { createLogger, type LogFormat } from './create-logger.js';

function lines(format: LogFormat, write: (logger: ReturnType<typeof createLogger>) => void) {
  const written: string[] = [];
  write(
    createLogger({ component: 'test', format, level: 'info', write: (line) => written.push(line) }),
  );
  return written;
}

describe('createLogger', () => {
  it('writes one readable line per event', () => {
    const [line] = lines('text', (logger) =>
      logger.info({ pod: 'default/a', note: 'two words' }, 'pod started'),
    );
    expect(line).toMatch(/^\S+Z INFO {2}test: pod started pod=default\/a note="two words"\n$/);
  });

  it('writes json and drops events below the level', () => {
    const written = lines('json', (logger) => {
      logger.debug({}, 'hidden');
      logger.child({ node: 'n1' }).warn({ count: 1 }, 'shown');
    });
    expect(written).toHaveLength(1);
    expect(JSON.parse(written[0]!)).toMatchObject({
      level: 'warn',
      component: 'test',
      node: 'n1',
      count: 1,
      msg: 'shown',
    });
  });

  it.each(['text', 'json'] as const)('never writes secrets (%s)', (format) => {
    const text = lines(format, (logger) => {
      logger.info({ token: 'hunter2', user: { password: 'hunter2' } }, 'login');
      logger.info({ request: { headers: { authorization: 'Bearer hunter2' } } }, 'request');
      logger.error({ err: new Error('refused: Bearer hunter2') }, 'sent Bearer hunter2');
    }).join('');
    expect(text).not.toContain('hunter2');
  });

  it('escapes line breaks, so that an event is one line', () => {
    const written = lines('text', (logger) =>
      logger.error({ err: new Error('a\nb') }, 'failed\nbadly'),
    );
    expect(written.join('').match(/\n/g)).toHaveLength(1);
  });
});
