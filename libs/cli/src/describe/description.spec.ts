import { describe, expect, it } from 'vitest';
import { Description } from './description.js';
import { describeSecret } from './kinds.js';

describe('descriptions', () => {
  it('omit the values of secrets', () => {
    const metadata = { name: 's', namespace: 'default' };
    const text = describeSecret({ metadata, type: 'Opaque', data: { pw: 'czNjcmV0' } }).text();
    expect(text).toContain('pw: 6 bytes');
    expect(text).not.toContain('czNjcmV0');
  });

  it('aligns labels block by block', () => {
    const description = new Description()
      .field('Name', 'web')
      .pairs('Labels', { b: '2', a: '1' })
      .field('Left out', undefined)
      .block('Containers', (block) => block.block('app', (inner) => inner.field('Image', 'i')))
      .table('Events', [
        ['Type', 'Reason'],
        ['Normal', 'Started'],
      ]);
    expect(description.text()).toBe(
      [
        'Name:    web',
        'Labels:  a=1',
        '         b=2',
        'Containers:',
        '  app:',
        '    Image:  i',
        'Events:',
        '  Type     Reason',
        '  ----     ------',
        '  Normal   Started',
        '',
      ].join('\n'),
    );
  });
});
