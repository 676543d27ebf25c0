/** Changes of addresses as `ip monitor` reports them. */
import { join } from "node:path";
import type { Subscription } from "rxjs";
import { afterEach, describe, expect, it } from "vitest";
import { toKubeletError } from "../../../src/core/errors.ts";
import { addressChanges } from "../../../src/sinks/addressChanges.ts";
import { findProgram } from "../../support/findProgram.ts";
import { mustSkip } from "../../support/mustSkip.ts";
import { missingForIpTables, openNetworkNamespace, scriptAt } from "../../support/networkNamespace.ts";
import { realClock } from "../../support/realClock.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";
import { waitFor } from "../../support/waitFor.ts";

describe("changes of addresses", () => {
  const dir = temporaryDirectory();
  let running: Subscription | undefined;
  afterEach(() => running?.unsubscribe());
  const follow = (ip: string) => {
    const state: { readonly seen: unknown[]; end: string } = { seen: [], end: "" };
    running = addressChanges(realClock, ip).subscribe({
      next: (value) => state.seen.push(value),
      error: (thrown: unknown) => (state.end = toKubeletError(thrown).message),
    });
    return state;
  };

  const title = "of a real network";
  it.skipIf(mustSkip(title, missingForIpTables("nft")))(
    `${title} are reported, those of a pod's link are not`,
    async () => {
      const network = await openNetworkNamespace();
      try {
        const state = follow(scriptAt(join(dir(), "ip"), `exec ${network.enter.join(" ")} ip "$@"`));
        await waitFor("the watch", () => state.seen.length > 0);
        network.inside("ip", "link", "add", "v0", "type", "veth", "peer", "name", "v1");
        network.inside("ip", "link", "set", "v1", "up");
        network.inside("ip", "link", "set", "v0", "up");
        network.inside("ip", "address", "add", "192.0.2.1/24", "dev", "v0");
        network.inside("ip", "route", "add", "default", "via", "192.0.2.9");
        const words = () =>
          state.seen.slice(1).map((line) =>
            String(line)
              .replace(/^\d+: /, "")
              .split(" ")
              .slice(0, 6),
          );
        await waitFor("the route", () => words().some(([first]) => first === "default"));
        expect(words()).toEqual([
          ["v0", "", "", "", "inet", "192.0.2.1/24"],
          ["default", "via", "192.0.2.9", "dev", "v0", ""],
        ]);
      } finally {
        running?.unsubscribe();
        await network.close();
      }
    },
  );

  const MISSING = findProgram("setpriv") === undefined ? ["setpriv"] : [];
  it.skipIf(mustSkip("their end", MISSING))("end with the program", async () => {
    const state = follow(scriptAt(join(dir(), "ip"), "echo 'Object \"monitor\" is unknown' >&2; exit 255"));
    await waitFor("the end", () => state.end !== "");
    expect(state.end).toBe('setpriv: exit status 255: Object "monitor" is unknown');
  });
});
