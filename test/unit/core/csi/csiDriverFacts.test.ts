/** Answers of a driver about itself at its registration: accepted within bounds, refused with the reason beyond them. */
import { describe, expect, it } from "vitest";
import { type CsiDriverAnswers, csiDriverFacts, topologyCollision } from "../../../../src/core/csi/csiDriverFacts.ts";

const registered = { name: "csi.example.com", endpoint: "/e", version: [1, 0] };
const answers = (node: Partial<CsiDriverAnswers["node"]> = {}, types: readonly number[] = []): CsiDriverAnswers => ({
  plugin: { name: "csi.example.com", vendorVersion: "v7" },
  node: { nodeId: "n-1", maxVolumesPerNode: 0n, accessibleTopology: undefined, ...node },
  capabilities: { capabilities: types.map((type) => ({ rpc: { type: type as 1 } })) },
});
const faultOf = (given: CsiDriverAnswers): string => {
  const facts = csiDriverFacts(registered, given);
  return facts.ok ? "none" : facts.error.message;
};

describe("csiDriverFacts", () => {
  it("has the capabilities that the kubelet knows, the topology sorted, and the limit within 32 bits", () => {
    const segments = { "example.com/zone": "z", "example.com/area": "" };
    const given = answers({ maxVolumesPerNode: 2n ** 40n, accessibleTopology: { segments } }, [1, 6, 99, 1, 0]);
    expect(csiDriverFacts(registered, given)).toEqual({
      ok: true,
      value: {
        ...registered,
        vendorVersion: "v7",
        nodeId: "n-1",
        maxVolumes: 2 ** 31 - 1,
        topology: { "example.com/area": "", "example.com/zone": "z" },
        capabilities: new Set(["STAGE_UNSTAGE_VOLUME", "VOLUME_MOUNT_GROUP"]),
      },
    });
  });

  it("has no limit for 0, and no name of a driver without the service Identity", () => {
    const facts = csiDriverFacts(registered, { ...answers(), plugin: undefined });
    expect(facts).toMatchObject({ ok: true, value: { maxVolumes: undefined, vendorVersion: "" } });
  });

  const segments = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`example.com/k${index}`, "v"]));
  it.each([
    [
      "another name",
      { ...answers(), plugin: { name: "evil", vendorVersion: "" } },
      'the driver calls itself "evil", but registers as "csi.example.com"',
    ],
    ["no node ID", answers({ nodeId: "" }), "error adding CSI driver node info: driverNodeID must not be empty"],
    ["a long node ID", answers({ nodeId: "n".repeat(257) }), "the node ID has more than 256 characters"],
    [
      "many segments",
      answers({ accessibleTopology: { segments: segments(65) } }),
      "the topology has more than 64 segments",
    ],
    [
      "a segment that is no label",
      answers({ accessibleTopology: { segments: { zone: "a b" } } }),
      'the topology segment "zone" cannot be a label of the node: a label value consists of letters, digits, - _ . and starts and ends with a letter or digit',
    ],
    ["a negative limit", answers({ maxVolumesPerNode: -1n }), "the driver gives -1 as max_volumes_per_node"],
    [
      "many capabilities",
      answers(
        {},
        Array.from({ length: 65 }, () => 1),
      ),
      "the driver lists more than 64 capabilities",
    ],
  ])("refuses %s", (_what, given, fault) => {
    expect(faultOf(given)).toBe(fault);
  });

  it("accepts answers at the bounds", () => {
    expect(faultOf(answers({ nodeId: "n".repeat(256), accessibleTopology: { segments: segments(64) } }))).toBe("none");
  });
});

it("a topology collides with other labels of the node, in upstream's words", () => {
  expect(topologyCollision({ zone: "a", rack: "r" }, { zone: "a" })).toBeUndefined();
  expect(topologyCollision({ zone: "a" }, { zone: "b" })).toBe(
    'detected topology value collision: driver reported "zone":"a" but existing label is "zone":"b"',
  );
});
