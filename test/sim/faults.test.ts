import { describe, expect, it } from "vitest";
import { createPrng, type Prng } from "../../src/sim/prng.ts";
import { createSimFaults, drawFaultRates } from "../../src/sim/simFaults.ts";
import { createSimNode, type SimNode } from "../../src/sim/simNode.ts";
import { leftovers, unmetGoals } from "../support/simGoals.ts";
import { workload, workloadPrograms } from "../support/simWorkload.ts";

const MINUTE_MS = 60_000;
const KINDS = ["steady", "pair", "job", "staged", "host", "crash", "failing", "flaky", "batch", "slow"];
const MANIFESTS = workload(10, KINDS);

/** One thing that happens to a node every half a minute: an accident, an edit, or nothing. */
function disturb(node: SimNode, prng: Prng): void {
  const draw = prng.next();
  const running = node.running();
  if (draw < 0.25 && running.length > 0) node.kill(prng.pick(running).replace(/#\d+$/, ""));
  else if (draw < 0.4) node.killSandbox(`demo/${prng.pick(Object.keys(MANIFESTS)).replace(".yaml", "")}-sim-node`);
  else if (draw < 0.5) node.runtime.breakEventStreams("connection reset");
  else if (draw < 0.6) {
    node.crashKubelet();
    node.runFor(prng.int(0, 5_000));
    node.restartKubelet();
  } else if (draw < 0.75 && node.manifests.names().length > 0) node.dropManifest(prng.pick(node.manifests.names()));
  else if (draw < 0.95) {
    const name = prng.pick(Object.keys(MANIFESTS));
    node.putManifest(name, MANIFESTS[name] ?? "");
  }
}

/** Ten minutes of trouble, then none: what the node still lacks after half an hour, and leaves after a clean-up. */
function troubledLife(seed: number) {
  const prng = createPrng(`faults/${seed}`);
  // A registry that never answers holds up every pull behind it for hours, as pulls are made one by one by default.
  const faults = createSimFaults(prng.fork("faults"), drawFaultRates(prng.fork("rates")), (rpc) => rpc !== "PullImage");
  const { intercept, goesOn } = faults;
  const node = createSimNode({ seed, manifests: MANIFESTS, programs: workloadPrograms, intercept, goesOn });
  const driver = prng.fork("driver");
  for (let time = 0; time < 10 * MINUTE_MS; time += 30_000) {
    node.runFor(30_000);
    disturb(node, driver);
  }
  faults.heal();
  const unmet = node.runUntil(() => unmetGoals(node).length === 0, 30 * MINUTE_MS) ? [] : unmetGoals(node);
  for (const name of node.manifests.names()) node.dropManifest(name);
  const left = node.runUntil(() => leftovers(node).length === 0, 15 * MINUTE_MS) ? [] : leftovers(node);
  return { violations: node.violations, unmet, left };
}

describe("a node whose runtime fails, loses replies, is slow and hangs", () => {
  const seeds = Array.from({ length: 50 }, (_, index) => index + 1);
  // Found bugs that are fixed; each its own way to go wrong.
  const found = [167, 1133, 1168, 1169, 1693, 2590, 3070];

  it.each([...seeds, ...found])("keeps every rule, then comes to what is wanted, then to nothing: seed %i", (seed) => {
    expect(troubledLife(seed)).toEqual({ violations: [], unmet: [], left: [] });
  });
});
