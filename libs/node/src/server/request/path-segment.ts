/**
 * Decodes a path segment, for routing and authorization alike. A malformed segment is returned
 * unchanged, because nothing has such a name.
 */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
