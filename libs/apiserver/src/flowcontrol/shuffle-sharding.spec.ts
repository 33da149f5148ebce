import fc from 'fast-check';
import { expect, it } from 'vitest';
import { dealHand, flowHash } from './shuffle-sharding.js';

const hashes = fc.bigInt(0n, (1n << 64n) - 1n);
const decks = fc
  .integer({ min: 1, max: 512 })
  .chain((size) => fc.tuple(fc.constant(size), fc.integer({ min: 1, max: Math.min(size, 6) })));

/** Draws cards from an explicit deck. */
function dealtFromDeck(hash: bigint, deckSize: number, handSize: number): number[] {
  const deck = Array.from({ length: deckSize }, (_, card) => card);
  let rest = hash;
  return Array.from({ length: handSize }, () => {
    const size = BigInt(deck.length);
    const [card] = deck.splice(Number(rest % size), 1);
    rest /= size;
    return card!;
  });
}

it('deals as from a deck of cards', () => {
  fc.assert(
    fc.property(hashes, decks, (hash, [deckSize, handSize]) => {
      const hand = dealHand(hash, deckSize, handSize);
      expect(hand).toEqual(dealtFromDeck(hash, deckSize, handSize));
      expect(new Set(hand).size).toBe(handSize);
    }),
  );
});

it('deals every hand equally often', () => {
  const counts = new Map<string, number>();
  for (let hash = 0n; hash < 5n * 4n * 3n * 7n; hash += 1n) {
    const hand = dealHand(hash, 5, 3).join();
    counts.set(hand, (counts.get(hand) ?? 0) + 1);
  }
  expect(counts.size).toBe(5 * 4 * 3);
  expect(new Set(counts.values())).toEqual(new Set([7]));
});

it('hashes flows by both of their names', () => {
  const hashed = [flowHash('ab', 'c'), flowHash('a', 'bc'), flowHash('ab', ''), flowHash('', 'ab')];
  expect(new Set(hashed).size).toBe(4);
  expect(flowHash('ab', 'c')).toBe(hashed[0]);
});
