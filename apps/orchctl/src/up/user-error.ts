/** A condition the user can act on; the message is the one line to show, without a stack. */
export class UserError extends Error {
  override readonly name = 'UserError';
}
