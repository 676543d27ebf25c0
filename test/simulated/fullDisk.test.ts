import { describe, expect, it } from "vitest";
import { ALL_THERE_IS } from "../../src/sim/host/simDisk.ts";
import { createSimNode, type SimNode } from "../../src/sim/simNode.ts";
import { simImage } from "../../src/sim/runtime/simImageCalls.ts";
import { runsForever } from "../../src/sim/runtime/simProgram.ts";
import { manifestOf } from "../support/simWorkload.ts";

const MINUTE_MS = 60_000;
const APP = "registry.example/app:1";
const web = manifestOf("web", { containers: [{ name: "app", image: APP }] });

function nodeWithDisk(isFull: boolean) {
  const node: SimNode = createSimNode({
    seed: "full disk",
    manifests: { "web.yaml": web },
    images: [simImage(APP)],
    programs: () => runsForever,
  });
  const fillDisk = (fill = ALL_THERE_IS): void => node.host.disk.fill("/", "others", fill);
  if (isFull) fillDisk();
  return { node, fillDisk, emptyDisk: () => node.host.disk.fill("/", "others", {}) };
}

const kubeletLines = ({ trace }: SimNode): readonly string[] =>
  trace.lines.filter((line) => line.includes("  kubelet ")).map((line) => line.trim().replace(/ +/g, " "));

describe("a node whose disk is full", () => {
  it("runs on for hours: starts no pod meanwhile, and starts it once there is room", () => {
    const { node, fillDisk, emptyDisk } = nodeWithDisk(false);
    node.runFor(5);
    fillDisk();
    node.runFor(120 * MINUTE_MS);
    const [whileFull, isUp] = [node.running(), node.kubelet !== undefined];
    emptyDisk();
    node.runFor(5 * MINUTE_MS);
    expect([whileFull, isUp, node.running(), kubeletLines(node)]).toEqual([
      [],
      true,
      ["demo/web-sim-node/app#0"],
      ["0.000 kubelet started"],
    ]);
  });

  it("takes back its kubelet, which adopts what runs", () => {
    const { node, fillDisk } = nodeWithDisk(false);
    node.runFor(MINUTE_MS);
    fillDisk();
    node.crashKubelet();
    node.restartKubelet();
    node.runFor(MINUTE_MS);
    expect([node.running(), kubeletLines(node).slice(1)]).toEqual([
      ["demo/web-sim-node/app#0"],
      ["60.000 kubelet crashed", "60.000 kubelet started"],
    ]);
    expect(node.pods().map(({ status }) => status?.phase)).toEqual(["Running"]);
  });

  it("has a new kubelet fail to start without its directories, again and again until there is room", () => {
    const { node, emptyDisk } = nodeWithDisk(true);
    node.runFor(5_000);
    emptyDisk();
    node.runFor(MINUTE_MS);
    const failed = "kubelet failed to start: cannot makeDirectory /var/lib/kubelet: no space left on device";
    expect([kubeletLines(node), node.running()]).toEqual([
      [0, 2, 4, 6].flatMap((second) => [
        `${second}.000 kubelet started`,
        ...(second === 6 ? [] : [`${second}.000 ${failed}`]),
      ]),
      ["demo/web-sim-node/app#0"],
    ]);
  });

  it("has no kubelet started again by its supervisor once it is crashed for good", () => {
    const { node } = nodeWithDisk(true);
    node.runFor(1_000);
    node.crashKubelet();
    node.runFor(MINUTE_MS);
    expect([node.kubelet, kubeletLines(node).length, node.scheduler.pending]).toEqual([undefined, 2, 0]);
  });
});
