/** Pods made to harm the node: they fail by themselves, and their neighbours run. */
import { describe, expect, it } from "vitest";
import { simImage } from "../../src/sim/runtime/simImageCalls.ts";
import { runsForever } from "../../src/sim/runtime/simProgram.ts";
import { createSimNode } from "../../src/sim/simNode.ts";
import { manifestOf } from "../support/simWorkload.ts";

const APP = "registry.example/app:1";

describe("a pod whose variables repeat each other", () => {
  const env = Array.from({ length: 20 }, (_, index) => ({
    name: `A${index}`,
    value: index === 0 ? "x".repeat(1000) : `$(A${index - 1})`.repeat(100),
  }));
  const hostile = manifestOf("hostile", { dnsPolicy: "Default", containers: [{ name: "app", image: APP, env }] });
  const other = manifestOf("other", { dnsPolicy: "Default", containers: [{ name: "app", image: APP }] });
  const message = 'container "app": env[2]: environment, command and arguments must be at most 6291456 bytes in all';

  it("says so in status and event, is tried again without end, and leaves its neighbour alone", () => {
    const node = createSimNode({
      seed: "hostile",
      images: [simImage(APP)],
      programs: () => runsForever,
      latency: () => 2,
      manifests: { "a.yaml": hostile, "b.yaml": other },
    });
    node.runFor(120_000);
    const statuses = node.pods().map(({ metadata, status }) => [metadata.name, status?.containerStatuses?.[0]?.state]);
    expect(Object.fromEntries(statuses)).toMatchObject({
      "hostile-sim-node": { waiting: { reason: "CreateContainerConfigError", message } },
      "other-sim-node": { running: {} },
    });
    expect(node.trace.lines.join("\n")).toContain(`Failed: Error: ${message}`);
    expect(node.running()).toEqual(["demo/other-sim-node/app#0"]);
    expect(node.violations).toEqual([]);
  });
});
