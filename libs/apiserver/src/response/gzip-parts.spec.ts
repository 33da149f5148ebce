import { crc32, gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compressRest, gzipParts, joinedCrc } from './gzip-parts.js';

const bytes = fc.uint8Array({ maxLength: 2_000 }).map((array) => Buffer.from(array));

describe('gzip files of a head and a compressed rest', () => {
  it('have the checksum of both in a row', () => {
    fc.assert(
      fc.property(bytes, bytes, (first, second) => {
        const joined = joinedCrc(crc32(first), crc32(second), second.length);
        expect(joined).toBe(crc32(Buffer.concat([first, second])));
      }),
    );
  });

  it('contain the head and then the rest, with different heads for one rest', async () => {
    const blocks = fc.array(bytes, { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(blocks, fc.array(bytes, { maxLength: 3 }), async (written, heads) => {
        const rest = await compressRest(async (write) => {
          for (const block of written) {
            const reused = Buffer.from(block);
            await write(reused);
            reused.fill(0);
          }
        });
        for (const head of heads) {
          const whole = gunzipSync(Buffer.concat(gzipParts(head, rest)));
          expect(whole.equals(Buffer.concat([head, ...written]))).toBe(true);
        }
      }),
      { numRuns: 50 },
    );
  });
});
