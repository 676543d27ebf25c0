/** Events of pods that wait for volumes: after upstream's time, and at once for a volume that is refused. */
import { ignoreElements, map, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { podUid } from "../../../../src/core/ids.ts";
import { NO_VOLUMES, type PodVolumes } from "../../../../src/core/volume/podVolumes.ts";
import type { VolumeLayout } from "../../../../src/core/volume/volumeLayout.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { volumeWaitEvents, type VolumeWaitDeps } from "../../../../src/pipelines/volumes/volumeWaitEvents.ts";
import { createKeyedCell } from "../../../../src/state/keyedCell.ts";
import { marbles } from "../../../support/marbles.ts";
import { containerOf, podOf } from "../../../support/pods.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const uid = podUid("p");
const pod = podOf({
  uid,
  spec: {
    containers: [containerOf({ volumeMounts: [{ name: "data", mountPath: "/data" }] })],
    volumes: [{ name: "data", emptyDir: {} }],
  },
});
const LIMIT = "VolumeAttachmentLimitExceeded";
const REJECTED = `event ${LIMIT}`;
const MESSAGE =
  "Node has reached its volume attachment limit, rejecting pod. unmounted volumes=[data], unattached volumes=[data], failed to process volumes=[]: context deadline exceeded";
const telemetry = recordingTelemetry();
const waiting = { ...NO_VOLUMES, unmounted: 1, refused: 0 };

describe("volumeWaitEvents", () => {
  it(
    "reports every 123 s for as long as a volume is not mounted",
    marbles(({ hot, clock, at, expectObservable }) => {
      const pods = "    p";
      const unsub = "   500s !";
      const expected = "123s e 122999ms e";

      const volumes = createKeyedCell<typeof uid, typeof waiting>();
      volumes.set(uid, waiting);
      at(300_000, () => volumes.set(uid, { ...waiting, unmounted: 0 }));
      const events$ = volumeWaitEvents(uid, hot(pods, { p: pod }), {
        volumes,
        ports: { clock, telemetry },
        api: undefined,
      });
      expectObservable(events$.pipe(map(({ kind }) => kind)), unsub).toBe(expected, { e: "event" });
    }),
  );

  it(
    "reports a refused volume at once",
    marbles(({ hot, clock, expectObservable }) => {
      const pods = "    -p";
      const unsub = "   122s !";
      const expected = "-e";

      const volumes = createKeyedCell<typeof uid, typeof waiting>();
      volumes.set(uid, { ...waiting, refused: 1 });
      const events$ = volumeWaitEvents(uid, hot(pods, { p: pod }), {
        volumes,
        ports: { clock, telemetry },
        api: undefined,
      });
      expectObservable(events$.pipe(map(({ kind }) => kind)), unsub).toBe(expected, { e: "event" });
    }),
  );

  it.each([
    ["too many volumes", { status: { attachError: { errorCode: 8 } } }, true, ["exhausted d", REJECTED, "rejected"]],
    ["another error", { status: { attachError: { errorCode: 13 } } }, true, ["event FailedMount"]],
    ["no answer", undefined, true, ["event FailedMount"]],
    ["a driver with a fixed limit", { status: { attachError: { errorCode: 8 } } }, false, ["event FailedMount"]],
  ])("looks up why a volume is not attached: %s", (_what, attachment, followsLimit, expected) =>
    marbles(({ hot, clock, expectObservable, flush }) => {
      const pods = "    p";
      const unsub = "   200s !";
      const expectedEvents = "";

      const csi = { driver: "d", attachment: { volumeName: "v", id: "csi-1" }, ...(followsLimit && { followsLimit }) };
      const layout = { name: "pv", plugin: "kubernetes.io/csi", csi } as unknown as VolumeLayout;
      const actual = new Map([["kubernetes.io/csi/pv", { waitsFor: "attachment" }]]);
      const wishes = new Map([["data", { kind: "resolved", layout }]]);
      const volumes = createKeyedCell<typeof uid, PodVolumes>();
      volumes.set(uid, { wishes, actual, unmounted: 1, refused: 0 } as unknown as PodVolumes);
      const answer$ = attachment === undefined ? throwError(() => kubeletError("NotFound", "no")) : of(attachment);
      const api = { get: () => answer$ } as unknown as VolumeWaitDeps["api"];
      const seen: string[] = [];
      const events$ = volumeWaitEvents(uid, hot(pods, { p: pod }), { volumes, ports: { clock, telemetry }, api }).pipe(
        map((output) => {
          if (output.kind === "event") seen.push(`event ${output.event.reason}`);
          else seen.push(output.kind === "exhausted" ? `exhausted ${output.driver}` : output.kind);
          if (output.kind === "rejected") expect(output).toMatchObject({ uid, reason: LIMIT, message: MESSAGE });
        }),
        ignoreElements(),
      );
      expectObservable(events$, unsub).toBe(expectedEvents);
      flush();
      expect(seen).toEqual(expected);
    })(),
  );
});
