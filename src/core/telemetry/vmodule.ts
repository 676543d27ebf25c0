/**
 * Verbosities of single source files (`logging.vmodule`). A pattern is compared with the name of the file that writes
 * a line, without directory and ending, as Go's filepath.Match does. Upstream: klog's moduleSpec.
 */
import type { VModuleItem } from "../config/kubeletConfiguration.ts";
import { matchesGlob } from "../glob.ts";

/**
 * Returns the verbosity of a file: that of the first pattern that matches, 0 without one. A pattern with verbosity 0
 * is skipped, as upstream; a malformed pattern matches no file. The file is written at the higher of this verbosity
 * and that of all files.
 */
export function fileVerbosity(items: readonly VModuleItem[], file: string): number {
  return items.find(({ filePattern, verbosity }) => verbosity > 0 && matchesGlob(filePattern, file))?.verbosity ?? 0;
}
