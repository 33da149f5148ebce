/**
 * A segment of a path as both who routes and who authorizes read it; itself where it is malformed: nothing
 * has such a name.
 */
export function decodedSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
