/**
 * Makes the kubelet's directory a shared mount permanently, so that a later kubelet finds it shared. Most hosts
 * already have a shared root file system. Bound: 30 s. Upstream: setupDataDirs in pkg/kubelet/kubelet.go.
 */
import { realpath } from "node:fs/promises";
import { catchError, EMPTY, ignoreElements, type Observable } from "rxjs";
import { toKubeletError } from "../../core/errors.ts";
import { rootSharing } from "../../core/mount/rootSharing.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/telemetry.ts";
import { readMountTable } from "./mountTable.ts";
import { boundedCall, runTool } from "./mountTool.ts";

const SHARE_MS = 30_000;
const IN_USE = "something is mounted below it, which a bind would hide";

/**
 * Completes on success, and on failure after logging it. Differs from upstream, which does not start then: only pods
 * with mount propagation need it.
 */
export function shareRoot(rootDir: string, { clock, log }: { clock: Clock; log: Logger }): Observable<never> {
  const share = async (signal: AbortSignal): Promise<void> => {
    const directory = await realpath(rootDir);
    const mount = (...args: readonly string[]): Promise<unknown> =>
      runTool({ program: "mount", args: [...args], what: `share mounts below ${rootDir}`, signal });
    switch (rootSharing(await readMountTable(), directory)) {
      case "isShared":
        return;
      case "isInUse":
        log.warn("Mounts do not spread to and from pods", { rootDir, why: IN_USE });
        return;
      case "bindToItself":
        await mount("--no-canonicalize", "--bind", "--", directory, directory);
        break;
      case "makeShared":
    }
    await mount("--no-canonicalize", "--make-rshared", "--", directory);
    log.info("Bound the root directory to itself to share the mounts below it", { rootDir });
  };
  return boundedCall(`share mounts below ${rootDir}`, SHARE_MS, clock, share).pipe(
    ignoreElements(),
    catchError((thrown: unknown) => {
      log.warn("Mounts do not spread to and from pods", { rootDir, why: toKubeletError(thrown).message });
      return EMPTY;
    }),
  );
}
