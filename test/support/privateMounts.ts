/** A place for mounts of a test: a tmpfs that tells no other mount of what happens in it, gone with all below. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Mounts } from "../../src/ports/mounts.ts";
import { mayMount } from "../../src/sinks/mounts/mayMount.ts";
import { createMounts } from "../../src/sinks/mounts/mounts.ts";
import { systemClock } from "../../src/sources/systemClock.ts";
import { unmountBelow } from "./kernelState.ts";
import { recordingTelemetry } from "./recordingTelemetry.ts";

/** Lists the requirements of real mounts that this machine lacks. */
export const missingForMounts = (): readonly string[] => (mayMount() ? [] : ["root (CAP_SYS_ADMIN) on Linux"]);

export interface PrivateMounts {
  readonly place: string;
  /** The mounts of this machine, for a kubelet of their own. */
  readonly mounts: Mounts;
  close(): void;
}

/** Mounts it; `rootDirIn` makes the root directory of the kubelet there. Default: the place itself. */
export function privateMounts(rootDirIn = (place: string): string => place, remoteDeadlineMs?: number): PrivateMounts {
  const place = realpathSync(mkdtempSync(join(tmpdir(), "rxlet-mounts-")));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=64m", "rxlet-test", place]);
  execFileSync("mount", ["--make-private", place]);
  const lockFile = `${place}.lock`;
  return {
    place,
    mounts: createMounts({
      ...{ clock: systemClock, log: recordingTelemetry().log, rootDir: rootDirIn(place), lockFile },
      ...(remoteDeadlineMs === undefined ? {} : { remoteDeadlineMs }),
    }),
    close() {
      unmountBelow(place);
      rmdirSync(place);
      rmSync(lockFile, { force: true });
    },
  };
}
