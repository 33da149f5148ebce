import { describe, expect, it } from 'vitest';
import { asLogIndex } from '../../core/brands.js';
import { PublishedIndex } from './published-index.js';

describe('PublishedIndex', () => {
  it('has no index before one is published, and none after it is withdrawn', () => {
    const published = new PublishedIndex();
    const reader = new PublishedIndex(published.memory);
    expect(reader.read()).toBeUndefined();
    published.publish(asLogIndex(7));
    expect(reader.read()).toBe(7);
    published.publish(undefined);
    expect(reader.read()).toBeUndefined();
    published.publish(asLogIndex(8));
    expect(reader.read()).toBe(8);
  });

  it('carries the largest index', () => {
    const published = new PublishedIndex();
    published.publish(asLogIndex(2 ** 48 - 1));
    expect(new PublishedIndex(published.memory).read()).toBe(2 ** 48 - 1);
  });
});
