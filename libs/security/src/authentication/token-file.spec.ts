import { describe, expect, it } from 'vitest';
import { parseTokenFile } from './token-file.js';

describe('token file', () => {
  it('names users with their groups', () => {
    const users = parseTokenFile(
      'secret,admin,admin-uid,"system:masters,ops"\n\n# note\nother,alice,2\n',
      'tokens.csv',
    );
    expect(users.get('secret')).toMatchObject({
      name: 'admin',
      uid: 'admin-uid',
      groups: ['system:masters', 'ops', 'system:authenticated'],
    });
    expect(users.get('other')).toMatchObject({ name: 'alice', groups: ['system:authenticated'] });
  });

  it('names the line at fault', () => {
    expect(() => parseTokenFile('a,b,c\nbad,line\n', 'tokens.csv')).toThrow('tokens.csv line 2');
    expect(() => parseTokenFile('a,b,c\na,d,e\n', 'tokens.csv')).toThrow('twice');
  });
});
