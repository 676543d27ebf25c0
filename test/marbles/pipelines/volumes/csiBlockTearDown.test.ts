import { defer, of } from "rxjs";
import { describe, expect, it } from "vitest";
import type { CsiDriverFacts } from "../../../../src/core/csi/csiDriverFacts.ts";
import { csiBlockPlaces } from "../../../../src/core/csi/csiBlockPlaces.ts";
import { toKubeletError } from "../../../../src/core/errors.ts";
import { tearDownCsiBlock } from "../../../../src/pipelines/volumes/csiBlockTearDown.ts";
import type { CsiContext } from "../../../../src/pipelines/volumes/csiContext.ts";
import { createHeldVolumes } from "../../../../src/pipelines/volumes/heldVolumes.ts";
import type { CsiClient } from "../../../../src/ports/csiDrivers.ts";
import { createSimFiles } from "../../../../src/sim/host/simFiles.ts";
import { createSimMounts } from "../../../../src/sim/host/simMounts.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const DRIVER = "disk.csi.example.com";
const directories = { rootDir: "/k" };
const PLACES = csiBlockPlaces(directories, "uid", "pv");
const DATA = `{"driverName":"${DRIVER}","volumeHandle":"v"}`;

/** A node with a block volume of a pod, whose driver says that it has done everything, and does nothing. */
function nodeWith({ clock }: Pick<Marbles, "clock">) {
  const files = createSimFiles({ clock });
  const mounts = createSimMounts({ clock, tree: files.tree });
  const calls: string[] = [];
  const answer = (call: string) =>
    defer(() => {
      calls.push(call);
      return of({});
    });
  const client: Partial<CsiClient> = {
    nodeUnpublishVolume: () => answer("unpublish"),
    nodeUnstageVolume: () => answer("unstage"),
  };
  const facts = { name: DRIVER, endpoint: "/s", capabilities: new Set(["STAGE_UNSTAGE_VOLUME"]) };
  const heldVolumes = createHeldVolumes(createCell(undefined));
  const context: Partial<CsiContext> = {
    port: { at: () => client as CsiClient },
    drivers: createCell(new Map([[DRIVER, facts as unknown as CsiDriverFacts]])),
    heldVolumes,
  };
  files.put(`${PLACES.dataDir}/vol_data.json`, DATA);
  files.tree.makeDirectory(PLACES.staging, 0o750);
  files.tree.makeDirectory(PLACES.publishDir, 0o750);
  files.put(PLACES.link, "");
  const ports = { files, mounts, telemetry: recordingTelemetry() };
  const tornDown$ = tearDownCsiBlock(ports, context as CsiContext, { uid: "uid", name: "pv", directories });
  return { files, mounts, calls, tornDown$, heldVolumes };
}

type Leave = (node: Pick<ReturnType<typeof nodeWith>, "files" | "mounts">) => void;

const outcomeOf = (leave: Leave): readonly [failure: string, left: readonly string[], calls: readonly string[]] => {
  let failure = "";
  const seen: string[] = [];
  const left: string[] = [];
  marbles((m) => {
    const { files, mounts, calls, tornDown$ } = nodeWith(m);
    leave({ files, mounts });
    m.at(1, () => tornDown$.subscribe({ error: (thrown: unknown) => (failure = toKubeletError(thrown).message) }));
    m.flush();
    seen.push(...calls);
    left.push(...[PLACES.publish, PLACES.staging, PLACES.link].filter((path) => files.at(path) !== undefined));
  })();
  return [failure, left, seen];
};

const GONE = ["", [PLACES.staging], ["unpublish"]];
const stays = (failure: string) => [failure, [PLACES.publish, PLACES.staging, PLACES.link], ["unpublish"]];
const CONTENT = `the driver has left a file or directory with content at ${PLACES.publish}`;

describe("the tear down of a CSI block volume", () => {
  it.each<readonly [rule: string, leave: Leave, expected: unknown]>([
    ["leaves nothing of the pod", () => undefined, GONE],
    ["removes a mount point that the driver has left", ({ files }) => files.put(PLACES.publish, ""), GONE],
    ["removes an empty directory", ({ files }) => files.tree.makeDirectory(PLACES.publish, 0o750), GONE],
    [
      "keeps what is mounted, and the link by which it is found",
      ({ files, mounts }) => {
        files.put("/dev/v", "v");
        files.put(PLACES.publish, "");
        mounts.byHost.bindTree("/dev/v", PLACES.publish, false, false);
      },
      stays(`the driver has left a mount at ${PLACES.publish}`),
    ],
    ["keeps a file with content", ({ files }) => files.put(PLACES.publish, "data"), stays(CONTENT)],
    ["keeps a directory with files", ({ files }) => files.put(`${PLACES.publish}/a`, ""), stays(CONTENT)],
  ])("%s", (_, leave, expected) => {
    expect(outcomeOf(leave)).toEqual(expected);
  });

  it("leaves the device of the node staged, and tells that its last pod has left it", () => {
    let left: readonly unknown[] = [];
    let kept: readonly unknown[] = [];
    marbles((m) => {
      const { tornDown$, heldVolumes } = nodeWith(m);
      const seen: unknown[] = [];
      heldVolumes.left$.subscribe((stage) => seen.push(stage));
      m.at(1, () => tornDown$.subscribe());
      m.flush();
      left = seen;
      kept = heldVolumes.kept();
    })();
    const stage = { kind: "csi", driver: DRIVER, handle: "v", blockName: "pv" };
    expect([left, kept]).toEqual([[stage], [stage]]);
  });
});
