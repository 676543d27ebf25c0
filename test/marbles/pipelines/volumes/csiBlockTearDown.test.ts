import { defer, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import type { CsiDriverFacts } from "../../../../src/core/csi/csiDriverFacts.ts";
import { csiBlockPlaces } from "../../../../src/core/csi/csiBlockPlaces.ts";
import { type KubeletError, kubeletError, toKubeletError } from "../../../../src/core/errors.ts";
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
function nodeWith({ clock }: Pick<Marbles, "clock">, unstageError?: KubeletError) {
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
    nodeUnstageVolume: () => (unstageError === undefined ? answer("unstage") : throwError(() => unstageError)),
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

const GONE = ["", [], ["unpublish", "unstage"]];
const stays = (failure: string) => [failure, [PLACES.publish, PLACES.staging, PLACES.link], ["unpublish"]];
const CONTENT = `the driver has left a file or directory with content at ${PLACES.publish}`;

describe("the tear down of a CSI block volume", () => {
  it.each<readonly [rule: string, leave: Leave, expected: unknown]>([
    ["leaves nothing", () => undefined, GONE],
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

  it("keeps the stage of a device that its driver does not unstage, and lets the pod go", () => {
    let left: readonly string[] = [];
    let kept: readonly unknown[] = [];
    marbles((m) => {
      const { files, tornDown$, heldVolumes } = nodeWith(m, kubeletError("Unknown", "busy"));
      m.at(1, () => tornDown$.subscribe());
      m.flush();
      left = [PLACES.publish, PLACES.staging, PLACES.link].filter((path) => files.at(path) !== undefined);
      kept = heldVolumes.kept();
    })();
    expect([left, kept]).toEqual([[PLACES.staging], [{ driver: DRIVER, handle: "v", blockName: "pv" }]]);
  });
});
