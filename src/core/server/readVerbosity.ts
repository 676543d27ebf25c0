/** The verbosity in the body of a PUT request, as upstream parses it. */
import { kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";

const MAX_INT32 = 2 ** 31 - 1;

/** Parses a number of at most 31 bits. Errors have upstream's texts. */
export function readVerbosity(text: string): Result<number> {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value <= MAX_INT32) return ok(value);
  const why = Number.isNaN(value) ? "invalid syntax" : "value out of range";
  return err(
    kubeletError("InvalidArgument", `strconv.ParseUint: parsing ${JSON.stringify(text.slice(0, 64))}: ${why}`),
  );
}
