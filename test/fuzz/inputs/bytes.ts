/** Valid bytes, and the same bytes damaged, truncated or forged. */
import fc from 'fast-check';

type Damage =
  | { readonly kind: 'flip'; readonly at: number; readonly bit: number }
  | { readonly kind: 'set'; readonly at: number; readonly byte: number }
  | { readonly kind: 'cut'; readonly at: number }
  | { readonly kind: 'remove'; readonly at: number; readonly length: number }
  | {
      readonly kind: 'repeat';
      readonly at: number;
      readonly length: number;
      readonly times: number;
    }
  | { readonly kind: 'insert'; readonly at: number; readonly bytes: Buffer };

const at = fc.nat(0xffff);
const length = fc.nat(64);

/** `tokens` are bytes with a meaning in the format. */
function damageWith(tokens: readonly Buffer[]): fc.Arbitrary<Damage> {
  const random = fc.uint8Array({ maxLength: 16 }).map((bytes) => Buffer.from(bytes));
  const inserted = tokens.length === 0 ? random : fc.oneof(random, fc.constantFrom(...tokens));
  return fc.oneof<fc.Arbitrary<Damage>[]>(
    fc.record({ kind: fc.constant('flip'), at, bit: fc.nat(7) }),
    fc.record({ kind: fc.constant('set'), at, byte: fc.constantFrom(0, 1, 0x7f, 0x80, 0xff) }),
    fc.record({ kind: fc.constant('cut'), at }),
    fc.record({ kind: fc.constant('remove'), at, length }),
    fc.record({ kind: fc.constant('repeat'), at, length, times: fc.nat(20) }),
    fc.record({ kind: fc.constant('insert'), at, bytes: inserted }),
  );
}

function damaged(bytes: Buffer, damage: Damage): Buffer {
  const place = bytes.length === 0 ? 0 : damage.at % (bytes.length + 1);
  const before = bytes.subarray(0, place);
  const after = bytes.subarray(place);
  switch (damage.kind) {
    case 'cut':
      return before;
    case 'remove':
      return Buffer.concat([before, after.subarray(damage.length)]);
    case 'insert':
      return Buffer.concat([before, damage.bytes, after]);
    case 'repeat': {
      const part = after.subarray(0, damage.length);
      return Buffer.concat([before, ...new Array<Buffer>(damage.times).fill(part), after]);
    }
    default: {
      const copy = Buffer.from(bytes);
      if (place === copy.length) return copy;
      copy[place] = damage.kind === 'set' ? damage.byte : copy[place]! ^ (1 << damage.bit);
      return copy;
    }
  }
}

/** The bytes, half of them damaged. */
export function damagedBytes(
  valid: fc.Arbitrary<Buffer>,
  tokens: readonly Buffer[] = [],
): fc.Arbitrary<Buffer> {
  const damages = fc.oneof(
    fc.constant<Damage[]>([]),
    fc.array(damageWith(tokens), { minLength: 1, maxLength: 4 }),
  );
  return fc.tuple(valid, damages).map(([bytes, all]) => all.reduce(damaged, bytes));
}

/** The same for UTF-8 text; invalid UTF-8 decodes to replacement characters. */
export function damagedText(
  valid: fc.Arbitrary<string>,
  tokens: readonly string[] = [],
): fc.Arbitrary<string> {
  const bytes = valid.map((text) => Buffer.from(text));
  const words = tokens.map((token) => Buffer.from(token));
  return damagedBytes(bytes, words).map((result) => result.toString());
}

/** Splits the bytes at these offsets, as a connection might. */
export function inPieces(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b);
  const bounds = [0, ...ends, bytes.length];
  return bounds.slice(1).map((end, index) => bytes.subarray(bounds[index], end));
}
