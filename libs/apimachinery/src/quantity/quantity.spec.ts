import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalQuantity, Quantity, QuantityError } from './quantity.js';

describe('canonical text', () => {
  it.each([
    ['0.5', '500m'],
    ['1000m', '1'],
    ['1024Mi', '1Gi'],
    ['1.5Gi', '1536Mi'],
    ['1000Ki', '1000Ki'],
    ['1e3', '1e3'],
    ['1E', '1E'],
    ['1E3', '1e3'],
    ['12e5', '1200e3'],
    ['0.5Ki', '512'],
    ['0.5Mi', '512Ki'],
    ['100', '100'],
    ['1000', '1k'],
    ['1000000', '1M'],
    ['1500', '1500'],
    ['0', '0'],
    ['-0', '0'],
    ['0Gi', '0'],
    ['+5', '5'],
    ['.5', '500m'],
    ['5.', '5'],
    ['-2.5', '-2500m'],
    ['0.0000000001', '1n'],
    ['1u', '1u'],
    ['1000n', '1u'],
    ['1000E', '1000E'],
    ['1Ki', '1Ki'],
    ['1023', '1023'],
    ['9999999999999999999999Ei', '9223372036854775807'],
    ['0001', '1'],
  ])('%s -> %s', (input, expected) => {
    expect(canonicalQuantity(input)).toBe(expected);
  });

  it('reads JSON numbers', () => {
    expect(canonicalQuantity(0.25)).toBe('250m');
    expect(canonicalQuantity(1_000_000)).toBe('1M');
  });

  it.each(['', 'lots', '1 Gi', '1Kii', '--1', '1.2.3', '.', '1e', '1e1000000000', '10e128', '1z'])(
    'rejects %j',
    (input) => {
      expect(() => canonicalQuantity(input)).toThrow(QuantityError);
    },
  );
});

describe('arithmetic', () => {
  it('adds, subtracts and compares across formats', () => {
    const sum = Quantity.parse('1Gi').add(Quantity.parse('512Mi'));
    expect(sum.toString()).toBe('1536Mi');
    expect(sum.subtract(Quantity.parse('1536Mi')).isZero).toBe(true);
    expect(Quantity.parse('1k').compare(Quantity.parse('1Ki'))).toBeLessThan(0);
    expect(Quantity.parse('0.1').equals(Quantity.parse('100m'))).toBe(true);
  });

  it('rounds away from zero', () => {
    expect(Quantity.parse('1001m').units()).toBe(2n);
    expect(Quantity.parse('-1001m').units()).toBe(-2n);
    expect(Quantity.parse('1u').milliUnits()).toBe(1n);
    expect(Quantity.parse('1500u').roundedToMilli().toString()).toBe('2m');
  });

  const suffix = fc.constantFrom('n', 'u', 'm', '', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'e3', 'e-2');
  const text = fc
    .tuple(fc.integer({ min: -1e6, max: 1e6 }), fc.option(fc.nat(999)), suffix)
    .map(([whole, fraction, unit]) => `${whole}${fraction === null ? '' : `.${fraction}`}${unit}`);

  it('round-trips through the canonical text', () => {
    fc.assert(
      fc.property(text, (input) => {
        const parsed = Quantity.parse(input);
        const again = Quantity.parse(parsed.toString());
        expect(again.equals(parsed)).toBe(true);
        // A binary quantity without a suffix is read as a decimal one: 1.953125Ki, 2000, 2k.
        expect(canonicalQuantity(again.toString())).toBe(again.toString());
      }),
    );
  });

  it('orders and adds like numbers', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const [x, y] = [Quantity.parse(a), Quantity.parse(b)];
        expect(x.add(y).subtract(y).equals(x)).toBe(true);
        expect(Math.sign(x.compare(y))).toBe(x.nanos === y.nanos ? 0 : x.nanos < y.nanos ? -1 : 1);
      }),
    );
  });
});
