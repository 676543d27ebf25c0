/** A place for mounts of a test: a tmpfs that tells no other mount of what happens in it, gone with all below. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mayMount } from "../../src/sinks/mounts/mayMount.ts";
import { unmountBelow } from "./kernelState.ts";

/** What real mounts lack here. */
export const missingForMounts = (): readonly string[] => (mayMount() ? [] : ["root (CAP_SYS_ADMIN) on Linux"]);

export interface PrivateMounts {
  readonly place: string;
  close(): void;
}

/** Mounts it. */
export function privateMounts(): PrivateMounts {
  const place = realpathSync(mkdtempSync(join(tmpdir(), "rxlet-mounts-")));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=64m", "rxlet-test", place]);
  execFileSync("mount", ["--make-private", place]);
  return {
    place,
    close() {
      unmountBelow(place);
      rmdirSync(place);
    },
  };
}
