/** Names and values of headers that carry user attributes. */

/** Node reads headers as Latin-1; clients send UTF-8. */
export function headerText(value: string): string {
  return Buffer.from(value, 'latin1').toString();
}

/** Keys that headers cannot carry are percent-encoded. */
export function unescapedKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch (error) {
    if (error instanceof URIError) return key;
    throw error;
  }
}
