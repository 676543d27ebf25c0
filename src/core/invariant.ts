/**
 * Assertions. A broken invariant is a bug: it ends the process (containers keep running) and is never handled.
 * `witness` is the only mutable variable of core: an unawaited promise, or a library that catches all errors, would
 * swallow the error, so the witness is called before any code can catch it.
 */
type Witness = (error: InvariantError) => void;

let witness: Witness | undefined;

/** Thrown by `invariant`; no code may handle it. */
export class InvariantError extends Error {
  override readonly name = "InvariantError";

  constructor(message: string) {
    super(message);
    witness?.(this);
  }
}

/**
 * Registers `see` to be called with every new InvariantError, in place of the previous witness. Returns a function that
 * restores the previous one.
 */
export function witnessBrokenInvariants(see: Witness): () => void {
  const before = witness;
  witness = see;
  return () => {
    witness = before;
  };
}

/** Throws InvariantError unless `claim` holds. */
export function invariant(claim: unknown, message: string): asserts claim {
  if (!claim) throw new InvariantError(message);
}

/** Belongs in the `default` of an exhaustive switch. */
export function unreachable(value: never): never {
  throw new InvariantError(`unreachable: ${textOf(value)}`);
}

/** Rethrows a broken invariant. For code that turns thrown values into errors. */
export function rethrowInvariant(thrown: unknown): void {
  if (thrown instanceof InvariantError) throw thrown;
}

/** Some values have no JSON form: large integers, cycles. */
function textOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return String(value);
  }
}
