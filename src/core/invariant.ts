/**
 * A broken invariant is a bug of ours: it ends the process (containers keep running) and is never handled. `witness` is
 * the one variable of core: a promise that nobody awaits or a library that catches everything would swallow the error,
 * so the process hears of it before anything can catch it.
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

/** Calls `see` with every InvariantError as it is made, instead of the witness before it; the result undoes that. */
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

/** For the `default` of an exhaustive switch. */
export function unreachable(value: never): never {
  throw new InvariantError(`unreachable: ${textOf(value)}`);
}

/** For code that turns whatever was thrown into a value: a broken invariant stays an exception. */
export function rethrowInvariant(thrown: unknown): void {
  if (thrown instanceof InvariantError) throw thrown;
}

/** Some values have no JSON: large integers, cycles. */
function textOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return String(value);
  }
}
