import { describe, expect, it } from "vitest";
import type { Pod, PodSpec } from "../../src/core/api.ts";
import { isRestored } from "../../src/core/pod/restoredMark.ts";
import { createSimApiServer } from "../../src/sim/apiServer/simApiServer.ts";
import { runsForever } from "../../src/sim/runtime/simProgram.ts";
import { createSimNode } from "../../src/sim/simNode.ts";
import { createHeapScheduler } from "../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../src/sim/time/simClock.ts";
import { newPod } from "../support/simApi.ts";

const MINUTE_MS = 60_000;
const WAIT_MS = 5_000;
const NODE = "one";

/** A node that boots without its API server, and that server. */
function offlineNode() {
  const scheduler = createHeapScheduler();
  const server = createSimApiServer({ clock: createSimClock(scheduler) });
  const node = createSimNode({
    seed: "offline",
    scheduler,
    api: server,
    config: { nodeName: NODE, offlineBoot: { waitMs: WAIT_MS } },
    programs: () => ({ ...runsForever, onTerm: { afterMs: 500, code: 0 } }),
  });
  server.put("nodes", { metadata: { name: NODE } });
  const cutPower = (): void => {
    server.setNetwork("refused");
    server.cutWatches();
    node.powerOff();
  };
  const boot = (): void => {
    node.restartRuntime();
    node.restartKubelet();
  };
  return { server, node, cutPower, boot };
}

const ref = (name: string) => ({ namespace: "default", name });
type Node = ReturnType<typeof offlineNode>;

function place({ server }: Pick<Node, "server">, name: string, spec: Partial<PodSpec> = {}): void {
  server.put("pods", { ...newPod(name), spec: { ...newPod(name).spec, ...spec } });
  server.schedule(ref(name), NODE);
}

const named = ({ node }: Node, name: string): Pod | undefined =>
  node.pods().find(({ metadata }) => metadata.name === name);

describe("a boot without the API server", () => {
  it("runs the same pods after the wait, marked, and goes on with them when the server answers", () => {
    const world = offlineNode();
    const { server, node, cutPower, boot } = world;
    place(world, "web");
    node.runFor(MINUTE_MS);
    const uid = named(world, "web")?.metadata.uid;
    cutPower();
    boot();
    node.runFor(WAIT_MS - 1_000);
    const early = node.running();
    node.runFor(10_000);
    const restored = named(world, "web");
    const offline = node.running();
    server.setNetwork("up");
    node.runFor(2 * MINUTE_MS);
    const confirmed = named(world, "web");
    expect({
      early,
      offline,
      mark: restored && isRestored(restored),
      uids: [restored?.metadata.uid, confirmed?.metadata.uid],
      later: node.running(),
      marked: confirmed && isRestored(confirmed),
      phase: server.object("pods", ref("web"))?.status?.phase,
      violations: node.violations,
    }).toEqual({
      early: [],
      offline: ["default/web/main#1"],
      mark: true,
      uids: [uid, uid],
      later: ["default/web/main#1"],
      marked: false,
      phase: "Running",
      violations: [],
    });
  });
});
