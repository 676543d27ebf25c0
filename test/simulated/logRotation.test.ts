import { describe, expect, it } from "vitest";
import { simImage } from "../../src/sim/runtime/simImageCalls.ts";
import { createSimNode, type SimNode } from "../../src/sim/simNode.ts";
import { runsForever } from "../../src/sim/runtime/simProgram.ts";
import { manifestOf } from "../support/simWorkload.ts";

const APP = "registry.example/app:1";
const LARGE = "x".repeat(1_000);
const LATEST = /\/app\/0\.log$/;

/** A node with one pod, whose log is rotated at a kilobyte. */
function nodeWithLog(): SimNode {
  const node = createSimNode({
    seed: "log rotation",
    manifests: { "web.yaml": manifestOf("web", { containers: [{ name: "app", image: APP }] }) },
    images: [simImage(APP)],
    programs: () => runsForever,
    config: { logRotation: { maxBytes: 1_000, maxFiles: 3, workers: 1, periodMs: 10_000 } },
  });
  node.runFor(5_000);
  return node;
}

const logs = ({ files }: SimNode): readonly string[] => files.paths().filter((path) => path.includes("/app/0.log"));
const namesOf = (node: SimNode): readonly string[] => logs(node).map((path) => path.replace(/^.*\/app\//, ""));
/** The container writes as much as a log may have. */
const write = (node: SimNode): void => node.files.put(logs(node).find((path) => LATEST.test(path)) ?? "", LARGE);

describe("the logs of a simulated node", () => {
  it("are rotated while their container runs, and go with it", () => {
    const node = nodeWithLog();
    for (let round = 0; round < 4; round++) {
      write(node);
      node.runFor(10_000);
    }
    const [latest, compressed = "", newest = "", ...more] = namesOf(node);
    expect([latest, more, compressed, newest]).toEqual([
      "0.log",
      [],
      expect.stringMatching(/^0\.log\.\d{8}-\d{6}\.gz$/),
      expect.stringMatching(/^0\.log\.\d{8}-\d{6}$/),
    ]);
    node.manifests.drop("web.yaml");
    node.runFor(60_000);
    expect([logs(node), node.violations]).toEqual([[], []]);
  });

  it("are reopened by the next kubelet if the last one crashed right after moving them", () => {
    const node = nodeWithLog();
    const latest = logs(node).find((path) => LATEST.test(path)) ?? "";
    node.crashKubelet();
    node.files.put(`${latest}.20260101-000000`, LARGE);
    node.files.drop(latest);
    node.restartKubelet();
    node.runFor(30_000);
    expect(namesOf(node)).toEqual(["0.log", "0.log.20260101-000000"]);
  });
});
