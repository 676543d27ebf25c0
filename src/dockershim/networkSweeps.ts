/**
 * Sweeps of the network: sandboxes whose container is gone leave it. Sweeps run beside the calls, one at a time; while a
 * sandbox cannot be disconnected, or Docker lists none, they are repeated. Bound: a pause from `FIRST_PAUSE_MS`, doubled up to
 * `LAST_PAUSE_MS`.
 */
import { within } from "../criServer/within.ts";
import { messageOf } from "../grpcServer/rpcFault.ts";
import type { DockerCalls } from "./dockerCalls.ts";
import { LABEL, SANDBOX } from "./mapping/names.ts";
import type { SandboxNetworks } from "./sandboxNetworks.ts";

/** See the file header. */
export interface NetworkSweeps {
  /** Sweeps at once, with what only the network itself has recorded. */
  whole(): void;
  /** Sweeps after a pause: a sandbox that is gone could not be disconnected. */
  later(): void;
}

const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 60_000;

/** Creates the sweeps, which end when `closed` aborts. Failures are reported. */
export function createNetworkSweeps(
  docker: Pick<DockerCalls, "list">,
  networks: SandboxNetworks,
  report: (line: string) => void,
  closed: AbortSignal,
): NetworkSweeps {
  const existing = async (): Promise<ReadonlySet<string>> =>
    new Set((await docker.list({ [LABEL.type]: SANDBOX })).map(({ id }) => id));
  let isRunning = false;
  let wanted: "no" | "later" | "now" = "no";
  let isWhole = false;
  let hurry = Promise.withResolvers<void>();
  const sweepOnce = async (): Promise<boolean> => {
    const sweepsAll = isWhole;
    isWhole = false;
    try {
      if (await networks.sweep(existing, sweepsAll)) return true;
    } catch (thrown) {
      if (!closed.aborted) report(messageOf(thrown));
    }
    isWhole ||= sweepsAll;
    return false;
  };
  const run = async (): Promise<void> => {
    let pauseMs = FIRST_PAUSE_MS;
    while (wanted !== "no") {
      if (wanted === "later") {
        await within(pauseMs, hurry.promise, closed);
        pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS);
      } else pauseMs = FIRST_PAUSE_MS;
      if (closed.aborted) break;
      wanted = "no";
      hurry = Promise.withResolvers();
      const isClean = await sweepOnce();
      if (!isClean && wanted === "no") wanted = "later";
    }
    isRunning = false;
  };
  const start = (when: "later" | "now"): void => {
    if (networks.podNetwork === undefined) return;
    if (wanted !== "now") wanted = when;
    if (when === "now") hurry.resolve();
    if (isRunning) return;
    isRunning = true;
    run().catch((thrown: unknown) => report(messageOf(thrown)));
  };
  return {
    whole: () => {
      isWhole = true;
      start("now");
    },
    later: () => start("later"),
  };
}
