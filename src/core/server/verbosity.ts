/** The verbosity in the body of a PUT, as upstream reads it. */
import { kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";

const MAX_INT32 = 2 ** 31 - 1;

/** A whole number of 32 bits. Errors: upstream's words. */
export function readVerbosity(text: string): Result<number> {
  const value = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
  const why = Number.isNaN(value) ? "invalid syntax" : "value out of range";
  if (Math.abs(value) <= MAX_INT32) return ok(value);
  const shown = JSON.stringify(text.slice(0, 64));
  return err(
    kubeletError(
      "InvalidArgument",
      `failed set klog.logging.verbosity ${text.slice(0, 64)}: strconv.ParseInt: parsing ${shown}: ${why}`,
    ),
  );
}
