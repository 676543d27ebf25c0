/** The error of a patch that cannot be applied: thrown inside the patch modules, a Result outside. */
import { kubeletError } from "../../../core/errors.ts";
import { err, ok, type Result } from "../../../core/result.ts";

/** The problem of a patch, with its field. */
export class PatchFault extends Error {
  override readonly name = "PatchFault";
}

/** Runs a patch; a PatchFault becomes an InvalidArgument error. */
export function patchResult<T>(apply: () => T): Result<T> {
  try {
    return ok(apply());
  } catch (thrown) {
    if (thrown instanceof PatchFault) return err(kubeletError("InvalidArgument", thrown.message));
    throw thrown;
  }
}
