import { describe, expect, it } from 'vitest';
import { type ReencryptionPage, reencrypt } from './reencrypt.js';

async function run(pages: readonly ReencryptionPage[]) {
  const requested: (string | undefined)[] = [];
  let out = '';
  let err = '';
  const io = {
    out: (text: string) => {
      out += text;
    },
    err: (text: string) => {
      err += text;
    },
  };
  const error = await reencrypt(async (after) => {
    requested.push(after);
    return pages[requested.length - 1]!;
  }, io).catch((thrown: Error) => thrown.message);
  return { requested, out, err, error };
}

describe('reencrypt', () => {
  const page = { checkedCount: 10, writtenCount: 4, failedCount: 0, failures: [] };

  it('requests pages until the last one and adds them up', async () => {
    expect(await run([{ ...page, after: 'core/secrets/a/x' }, page])).toEqual({
      requested: [undefined, 'core/secrets/a/x'],
      out: 'reencrypted 8 of 20 objects\n',
      err: '',
      error: undefined,
    });
  });

  it('continues after failures, and fails at the end', async () => {
    const failed = { ...page, failedCount: 1, failures: ['no key for a'], after: 'a' };
    expect(await run([failed, page])).toEqual({
      requested: [undefined, 'a'],
      out: 'reencrypted 8 of 20 objects\n',
      err: 'no key for a\n',
      error: '1 objects could not be reencrypted; keep the older keys in the configuration',
    });
  });
});
