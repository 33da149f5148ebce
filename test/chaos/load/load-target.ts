/** A server that clients of the load use. */
export interface LoadTarget {
  readonly name: string;
  readonly url: string;
}
