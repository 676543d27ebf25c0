/** Skips tests, with a message, when the machine lacks a requirement; with RXLET_E2E=required they fail instead. */
import { existsSync } from "node:fs";

/** True when tests that cannot run here have to fail. */
export const isRequired = (): boolean => process.env["RXLET_E2E"] === "required";

/** For `skipIf`: whether `what` is left out here because of what is `missing`, which is printed. */
export function mustSkip(what: string, missing: readonly string[]): boolean {
  if (missing.length === 0 || isRequired()) return false;
  process.stderr.write(`\nSKIPPED ${what}, missing: ${missing.join(", ")} (RXLET_E2E=required makes this a failure)\n`);
  return true;
}

const MISSING_ROOT: readonly string[] = process.getuid?.() === 0 ? [] : ["root"];

/** Missing requirements of tests that change file owners. */
export const MISSING_FOR_CHOWN = MISSING_ROOT;

/** Missing requirements of tests that create cgroups. */
export const MISSING_FOR_CGROUPS: readonly string[] = [
  ...MISSING_ROOT,
  ...(existsSync("/sys/fs/cgroup") ? [] : ["/sys/fs/cgroup"]),
];
