/** Events of pods that wait for volumes: after upstream's time, and at once for a volume that is refused. */
import { map } from "rxjs";
import { describe, it } from "vitest";
import { podUid } from "../../../../src/core/ids.ts";
import { NO_VOLUMES } from "../../../../src/core/volume/podVolumes.ts";
import { volumeWaitEvents } from "../../../../src/pipelines/volumes/volumeWaitEvents.ts";
import { createKeyedCell } from "../../../../src/state/keyedCell.ts";
import { marbles } from "../../../support/marbles.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const uid = podUid("p");
const pod = podOf({
  uid,
  spec: {
    containers: [containerOf({ volumeMounts: [{ name: "data", mountPath: "/data" }] })],
    volumes: [{ name: "data", emptyDir: {} }],
  },
});
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
      const events$ = volumeWaitEvents(uid, hot(pods, { p: pod }), { volumes, ports: { clock } });
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
      const events$ = volumeWaitEvents(uid, hot(pods, { p: pod }), { volumes, ports: { clock } });
      expectObservable(events$.pipe(map(({ kind }) => kind)), unsub).toBe(expected, { e: "event" });
    }),
  );
});
