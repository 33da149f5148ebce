/** A request that cannot be served, with what the client is told. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  constructor(
    readonly statusCode: number,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}
