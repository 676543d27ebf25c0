/** Modes that need no chmod, under the umask of another process. */
import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";

const MODULE = new URL("../../../src/fileSystem/umask.ts", import.meta.url).href;
const MODES = [0o600, 0o644, 0o700, 0o755, 0o777, 0o1777, 0o4755];

/** Returns the modes that are kept under a umask. */
function keptUnder(umask: string): readonly string[] {
  const asked = `const { isKeptByUmask } = await import(${JSON.stringify(MODULE)});
    console.log(JSON.stringify(${JSON.stringify(MODES)}.filter((mode) => isKeptByUmask(mode))));`;
  const arguments_ = ["-c", `umask ${umask}; exec "$0" --input-type=module -e "$1"`, process.execPath, asked];
  const printed = execFileSync("sh", arguments_, { encoding: "utf8" });
  return (JSON.parse(printed) as readonly number[]).map((mode) => mode.toString(8));
}

describe.runIf(process.platform === "linux")("a mode", () => {
  it.each([
    ["022", ["600", "644", "700", "755"]],
    ["077", ["600", "700"]],
    ["000", ["600", "644", "700", "755", "777"]],
  ])("is kept under a umask of %s if it lacks its bits and has no special ones", (umask, kept) => {
    expect(keptUnder(umask)).toEqual(kept);
  });
});
