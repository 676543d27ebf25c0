/** The annotation and the labels of CSI drivers on the Node. */
import { describe, expect, it } from "vitest";
import type { CsiDriverFacts } from "../../../../src/core/csi/csiDriverFacts.ts";
import { csiNodePatch } from "../../../../src/core/node/csiNodeMarks.ts";

const IDS = "csi.volume.kubernetes.io/nodeid";
const facts = (name: string, topology: Readonly<Record<string, string>> = {}): CsiDriverFacts => ({
  ...{ name, endpoint: "/e", version: [1, 0], vendorVersion: "", nodeId: `id-${name}` },
  ...{ maxVolumes: undefined, topology, capabilities: new Set() },
});
const patchOf = (
  metadata: { readonly annotations?: Record<string, string>; readonly labels?: Record<string, string> },
  registered: readonly CsiDriverFacts[],
  ...gone: readonly string[]
) =>
  csiNodePatch(
    { metadata },
    { registered: new Map(registered.map((driver) => [driver.name, driver])), gone: new Set(gone) },
  );

describe("csiNodePatch", () => {
  it("adds the IDs of drivers beside those of others, and the labels of their place", () => {
    expect(patchOf({ annotations: { [IDS]: '{"x":"1"}' } }, [facts("a", { zone: "z" })])).toEqual({
      ok: true,
      value: { metadata: { annotations: { [IDS]: '{"a":"id-a","x":"1"}' }, labels: { zone: "z" } } },
    });
  });

  it("is empty for a Node that has them all, in whatever order", () => {
    const metadata = { annotations: { [IDS]: '{"b":"id-b", "a":"id-a"}' }, labels: { zone: "z" } };
    expect(patchOf(metadata, [facts("a", { zone: "z" }), facts("b")])).toEqual({ ok: true, value: undefined });
  });

  it("removes the IDs of drivers that went, and the annotation with the last", () => {
    const two = { annotations: { [IDS]: '{"a":"1","b":"2"}' } };
    expect(patchOf(two, [], "a")).toEqual({ ok: true, value: { metadata: { annotations: { [IDS]: '{"b":"2"}' } } } });
    expect(patchOf(two, [], "a", "b")).toEqual({ ok: true, value: { metadata: { annotations: { [IDS]: null } } } });
  });

  it("never overwrites a label", () => {
    const metadata = { annotations: { [IDS]: '{"a":"id-a"}' }, labels: { zone: "other" } };
    expect(patchOf(metadata, [facts("a", { zone: "z", rack: "r" })])).toEqual({ ok: true, value: undefined });
  });

  it.each(["nonsense", "[]", "7", '{"a":1}'])("never replaces the annotation %s", (annotation) => {
    expect(patchOf({ annotations: { [IDS]: annotation } }, [facts("a")])).toMatchObject({
      ok: false,
      error: { message: `failed to parse node's "${IDS}" annotation value (${JSON.stringify(annotation)})` },
    });
  });

  it("shows the beginning of an annotation that makes no sense", () => {
    const patch = patchOf({ annotations: { [IDS]: "x".repeat(10_000) } }, [facts("a")]);
    const shown = `failed to parse node's "${IDS}" annotation value ("${"x".repeat(256)}")`;
    expect(patch).toMatchObject({ ok: false, error: { code: "InvalidArgument", message: shown } });
  });
});
