import { defer, NEVER } from "rxjs";
import { expect, it } from "vitest";
import type { CsiDriverFacts } from "../../../../src/core/csi/csiDriverFacts.ts";
import { csiVolumeName, stageDirOf } from "../../../../src/core/csi/csiLayout.ts";
import type { CsiContext } from "../../../../src/pipelines/volumes/csiContext.ts";
import { createHeldVolumes } from "../../../../src/pipelines/volumes/heldVolumes.ts";
import { unstageAsLeft } from "../../../../src/pipelines/volumes/volumeKinds.ts";
import type { CsiClient } from "../../../../src/ports/csiDrivers.ts";
import { createSimFiles } from "../../../../src/sim/host/simFiles.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const DRIVER = "disk.csi.example.com";
const LIMIT = 256;
const directories = { rootDir: "/k" };

it(
  "at most 256 volumes are unstaged as their last pods leave them; the others are kept for the next sweep",
  marbles((m) => {
    const files = createSimFiles({ clock: m.clock });
    const heldVolumes = createHeldVolumes(createCell(undefined));
    let calls = 0;
    const nodeUnstageVolume = () =>
      defer(() => {
        calls += 1;
        return NEVER;
      });
    const facts = { name: DRIVER, endpoint: "/s", capabilities: new Set(["STAGE_UNSTAGE_VOLUME"]) };
    const csi: Partial<CsiContext> = {
      port: { at: () => ({ nodeUnstageVolume }) as unknown as CsiClient },
      drivers: createCell(new Map([[DRIVER, facts as unknown as CsiDriverFacts]])),
      heldVolumes,
    };
    const kinds = { csi: csi as CsiContext, flex: undefined };
    const ports = { files, mounts: undefined, clock: m.clock, telemetry: recordingTelemetry() };
    unstageAsLeft(ports, kinds, directories).subscribe();
    m.at(1, () => {
      for (let index = 0; index <= LIMIT; index += 1) {
        const handle = `v${index}`;
        files.put(
          `${stageDirOf(directories, DRIVER, handle)}/vol_data.json`,
          `{"driverName":"${DRIVER}","volumeHandle":"${handle}"}`,
        );
        heldVolumes.hold(csiVolumeName(DRIVER, handle), `pod/${handle}`, true);
        heldVolumes.leave(`pod/${handle}`, { kind: "csi", driver: DRIVER, handle });
      }
    });
    m.flush();
    expect([calls, heldVolumes.kept().length]).toEqual([LIMIT, LIMIT + 1]);
  }),
);
