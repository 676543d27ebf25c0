/** The provider id of a Node that was created before its cloud answered: which requests are made when. */
import { describe, expect, it } from "vitest";
import type { Node } from "../../../../src/core/api.ts";
import type { CloudInstance } from "../../../../src/core/cloud/cloudInstance.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { providerId } from "../../../../src/pipelines/cluster/keepProviderId.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { EC2_INSTANCE } from "../../../support/cloudInstances.ts";
import { fixedRng } from "../../../support/fixedRng.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";
import { simApi } from "../../../support/simApi.ts";

/** The writer of the node n1, with the times of its requests; the first `failures` requests fail. */
function world(failures = 0, configured = "") {
  const asked: string[] = [];
  const api = simApi({
    intercept(verb, resource) {
      asked.push(`${api.scheduler.now()} ${verb} ${resource}`);
      return asked.length > failures ? { kind: "proceed" } : { kind: "fail", error: kubeletError("Unavailable", "no") };
    },
  });
  const { scheduler, server, clock } = api;
  const node = createCell<Node | undefined>(undefined);
  const cloudInstance = createCell<CloudInstance | undefined>(undefined);
  const telemetry = recordingTelemetry();
  const ports = { api: api.node("n1"), clock, rng: fixedRng(0), telemetry };
  const writer = { ...ports, nodeName: "n1", configured, deadlineMs: 10_000, node, cloudInstance };
  const subscription = providerId(writer).subscribe();
  const know = (spec: Node["spec"] = {}): void => node.set(server.put("nodes", { metadata: { name: "n1" }, spec }));
  return {
    ...{ asked, telemetry, know, cloudInstance },
    /** Runs to the time, and has the Node known as the server has it. */
    runTo(ms: number): void {
      while (scheduler.runNext(ms));
      scheduler.advanceTo(ms);
    },
    stored: () => server.object("nodes", { name: "n1" })?.spec?.providerID,
    refresh: () => node.set(server.object("nodes", { name: "n1" })),
    end: () => subscription.unsubscribe(),
  };
}

describe("providerId", () => {
  it("waits for Node and instance, writes once, and writes nothing for a Node that has the id", () => {
    const { know, cloudInstance, runTo, refresh, asked, stored, end } = world();
    know();
    runTo(1_000);
    cloudInstance.set(EC2_INSTANCE);
    runTo(2_000);
    refresh();
    runTo(3_000);
    cloudInstance.set({ ...EC2_INSTANCE, zone: "" });
    runTo(60_000);
    expect([asked, stored()]).toEqual([["1000 patch nodes"], EC2_INSTANCE.providerId]);
    end();
  });

  it("tries again after pauses that double", () => {
    const { know, cloudInstance, runTo, asked, stored, end } = world(2);
    know();
    cloudInstance.set(EC2_INSTANCE);
    runTo(20_000);
    expect(asked.map((line) => line.split(" ")[0])).toEqual(["0", "1002", "3004"]);
    expect(stored()).toBe(EC2_INSTANCE.providerId);
    end();
  });

  it("prefers the configured id, and leaves another one with one line in the log", () => {
    const { know, cloudInstance, runTo, asked, telemetry, end } = world(0, "mine://1");
    know({ providerID: EC2_INSTANCE.providerId });
    cloudInstance.set(EC2_INSTANCE);
    cloudInstance.set({ ...EC2_INSTANCE, zone: "" });
    runTo(5_000);
    expect([asked, telemetry.lines.map(({ fields }) => fields)]).toEqual([
      [],
      [{ current: EC2_INSTANCE.providerId, wanted: "mine://1" }],
    ]);
    end();
  });
});
