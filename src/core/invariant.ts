/** A broken invariant is a bug of ours: it ends the process (containers keep running), it is never handled. */
export class InvariantError extends Error {
  override readonly name = "InvariantError";
}

/** Throws InvariantError unless `claim` holds. */
export function invariant(claim: unknown, message: string): asserts claim {
  if (!claim) throw new InvariantError(message);
}

/** For the `default` of an exhaustive switch. */
export function unreachable(value: never): never {
  throw new InvariantError(`unreachable: ${JSON.stringify(value)}`);
}
