import { describe, expect, it } from "vitest";
import { chosenContainer } from "../../../../src/core/dev/defaultContainer.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const two = {
  containers: [containerOf({ name: "app" }), containerOf({ name: "side", tty: true })],
  initContainers: [containerOf({ name: "setup" })],
};
const OUT_OF = "out of: app, side, setup (init)";
const DEFAULT = "kubectl.kubernetes.io/default-container";

describe("chosenContainer", () => {
  it.each([
    ["the only one, without a word", podOf(), undefined, { name: "main", tty: false, notice: undefined }],
    [
      "the first one, and says so",
      podOf({ spec: two }),
      undefined,
      { name: "app", tty: false, notice: `Defaulted container "app" ${OUT_OF}` },
    ],
    ["the named container", podOf({ spec: two }), "side", { name: "side", tty: true, notice: undefined }],
    [
      "a named container that has ended",
      podOf({ spec: two }),
      "setup",
      { name: "setup", tty: false, notice: undefined },
    ],
    [
      "the one of the annotation",
      podOf({ spec: two, annotations: { [DEFAULT]: "side" } }),
      undefined,
      { name: "side", tty: true, notice: undefined },
    ],
    [
      "the first one, when the annotation names none",
      podOf({ spec: two, annotations: { [DEFAULT]: "nope" } }),
      undefined,
      { name: "app", tty: false, notice: `Defaulted container "app" ${OUT_OF}` },
    ],
  ])("chooses %s", (_, pod, wanted, value) => {
    expect(chosenContainer(pod, wanted)).toEqual({ ok: true, value });
  });

  it("rejects a name that the pod does not have", () => {
    expect(chosenContainer(podOf({ spec: two }), "x")).toMatchObject({
      ok: false,
      error: { code: "NotFound", message: "container x not found in pod plain; it has app, side, setup (init)" },
    });
  });
});
